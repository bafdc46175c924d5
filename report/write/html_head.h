// The common head and style of all pages.
#pragma once

#include <string>
#include <string_view>

namespace symprof::report {

/// The page up to the heading, which names the model at `path` (escaped already). `style` continues
/// the last line of the common style, and closes it.
std::string html_head(std::string_view path, std::string_view style);

}  // namespace symprof::report
