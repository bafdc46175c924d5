// The terminal columns of UTF-8 text: East Asian letters and emoji take two, combining accents
// none. Invalid bytes take one each.
#pragma once

#include <cstddef>
#include <string_view>

namespace symprof::report {

int display_width(std::string_view text);

/// Byte offset at which the longest beginning of at most `columns` ends, accents with their
/// letters.
std::size_t end_of_front(std::string_view text, int columns);
/// Byte offset at which the longest end of at most `columns` begins.
std::size_t begin_of_back(std::string_view text, int columns);
/// The first letter with its accents.
std::string_view first_letter(std::string_view text);

}  // namespace symprof::report
