// SPDX-License-Identifier: Apache-2.0
// The words that people head columns with, and numbers as they write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/importer.h"

namespace dsa {

/// The role that a column heading names ("From_Node" -> head); nullopt for any other text.
std::optional<ColumnRole> roleOfHeading(std::string_view cell);

/// The roles of a row if it is a header: it names a head and a tail, or a user and an item; other columns are ignored.
/// Single letters (h r t, s p o) count only when the whole row is made of them.
std::optional<std::vector<ColumnRole>> rolesOfHeader(const std::vector<std::string>& cells);

/// What a heading calls its ids: "movieId" -> "movie".
std::string wordOfHeading(std::string_view cell);

/// A finite number: "2.5e-1", ".5", "1E2", "+3"; with decimalComma also "0,5".
std::optional<double> parseNumber(std::string_view text, bool decimalComma);

}  // namespace dsa
