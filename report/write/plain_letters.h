// Tables for ASCII-only destinations.
#pragma once

#include <string>
#include <string_view>

namespace symprof::report {

/// `text` with the reports' non-ASCII signs ("─", "≤", "…") replaced by ASCII ones of the same
/// width. Other letters, such as names in a model, stay.
std::string in_plain_letters(std::string_view text);

}  // namespace symprof::report
