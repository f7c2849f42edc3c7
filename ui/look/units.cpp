// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/look/units.h"

#include <QDateTime>
#include <QLocale>
#include <cmath>

namespace dsa::ui {

QString Units::bytes(double bytes) {
  const QString units[] = {tr("B"), tr("KiB"), tr("MiB"), tr("GiB"), tr("TiB"), tr("PiB")};
  if (!std::isfinite(bytes)) return number(bytes);
  double value = std::abs(bytes);
  int unit = 0;
  // 1023.995 would be written as 1024.00.
  while (value >= 1023.995 && unit < 5) value /= 1024, ++unit;
  const QString sign = bytes < 0 ? QString(QChar(0x2212)) : QString();
  return sign + QLocale().toString(value, 'f', unit == 0 ? 0 : 2) + QChar(0xA0) + units[unit];
}

QString Units::bytesPerSecond(double rate) {
  //: %1 is an amount, as "12.00 MiB"
  return tr("%1/s").arg(bytes(rate));
}

QString Units::count(std::uint64_t count) { return QLocale().toString(static_cast<qulonglong>(count)); }

QString Units::number(double value) {
  if (std::isnan(value)) return tr("NaN");
  if (std::isinf(value)) return value > 0 ? QString(QChar(0x221E)) : QString(QChar(0x2212)) + QChar(0x221E);
  if (value < 0) return QString(QChar(0x2212)) + number(-value);
  const double size = value;
  if (size != 0 && (size < 1e-3 || size >= 1e7)) return QLocale().toString(value, 'e', 2);
  if (size >= 1000) return QLocale().toString(value, 'f', 0);
  const int decimals = size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  return QLocale().toString(value, 'f', decimals);
}

QString Units::duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return QString(QChar(0x2013));
  //: seconds
  if (seconds < 9.95) return tr("%1 s").arg(QLocale().toString(seconds, 'f', 1));
  const auto whole = static_cast<qint64>(std::llround(seconds));
  if (whole >= 3600)
    return QString("%1:%2:%3")
        .arg(whole / 3600)
        .arg(whole / 60 % 60, 2, 10, QChar('0'))
        .arg(whole % 60, 2, 10, QChar('0'));
  return QString("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QChar('0'));
}

QString Units::rate(double perSecond) {
  const QString value = perSecond >= 1000 ? QLocale().toString(std::round(perSecond), 'f', 0) : number(perSecond);
  //: per second
  return tr("%1 /s").arg(value);
}

QString Units::moment(std::int64_t wallMs) {
  const QDateTime when = QDateTime::fromMSecsSinceEpoch(wallMs);
  if (when.date() == QDate::currentDate()) return QLocale().toString(when.time(), QLocale::ShortFormat);
  return QLocale().toString(when, QLocale::ShortFormat);
}

}  // namespace dsa::ui
