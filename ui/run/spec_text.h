// SPDX-License-Identifier: GPL-3.0-or-later
// The value of a spec's key as fields, tables and command lines write it: in the form that reads back.
#pragma once

#include <QString>

#include "core/spec/spec_table.h"

namespace dsa::ui {

[[nodiscard]] QString specValueText(const SpecValue& value);

}  // namespace dsa::ui
