// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/spec_text.h"

namespace dsa::ui {

QString specValueText(const SpecValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return QString::fromStdString(*text);
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return QString::number(*count);
  return QString::fromStdString(shortestNumber(std::get<double>(value)));
}

}  // namespace dsa::ui
