// SPDX-License-Identifier: GPL-3.0-or-later
// The one place where QCustomPlot's header is named: it does not know our warnings.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <qcustomplot.h>
#pragma GCC diagnostic pop
