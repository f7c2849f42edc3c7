// SPDX-License-Identifier: GPL-3.0-or-later
// One monochrome set of icons, drawn in the palette's colours at any scale.
#pragma once

#include <QIcon>
#include <QPixmap>
#include <QString>

namespace dsa::ui {

/// resources/icons/NAME.svg in the text colour of the current theme, with a paler disabled state.
QIcon icon(const QString& name);
/// The same as a picture of `size` logical pixels in `colour`.
QPixmap iconPixmap(const QString& name, int size, const QColor& colour, double ratio);

}  // namespace dsa::ui
