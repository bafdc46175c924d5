// How all pages begin and look.
#pragma once

#include <string>
#include <string_view>

namespace symprof::report {

/// Up to the heading, which names the model at `path` (escaped already). `style` goes on in the
/// last line of the common one, and closes it.
std::string html_head(std::string_view path, std::string_view style);

}  // namespace symprof::report
