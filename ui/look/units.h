// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as the window writes them: bytes IEC, counts with separators, durations, rates; by the window's locale.
#pragma once

#include <QCoreApplication>
#include <QString>
#include <cstdint>

namespace dsa::ui {

class Units {
  Q_DECLARE_TR_FUNCTIONS(Units)
 public:
  /// "1.43 GiB"; two decimals from KiB on, whole bytes below.
  static QString bytes(double bytes);
  /// "1.43 GiB/s"
  static QString bytesPerSecond(double rate);
  /// "82,115"
  static QString count(std::uint64_t count);
  /// Three significant digits: "0.868", "12,300"; NaN and infinities in words.
  static QString number(double value);
  /// "0:42", "1:03:20"; tenths below ten seconds: "4.2 s".
  static QString duration(double seconds);
  /// "1,830,000 /s"
  static QString rate(double perSecond);
  /// "14:05", with the day where it is not today's.
  static QString moment(std::int64_t wallMs);
};

}  // namespace dsa::ui
