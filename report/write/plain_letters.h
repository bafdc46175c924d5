// Tables for places that have ASCII alone.
//
// Public header.
#pragma once

#include <string>
#include <string_view>

namespace symprof::report {

/// `text` with the signs that reports use beside ASCII ("─", "≤", "…") as ASCII ones of the same
/// width. What else it has, such as names in a model, stays.
std::string in_plain_letters(std::string_view text);

}  // namespace symprof::report
