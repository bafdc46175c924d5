// Changes JSON so that it stays JSON.
#pragma once

#include <random>
#include <string>

namespace symprof::fuzz {

/// `text` with one or a few places changed: values exchanged, copied, dropped, nested, replaced by
/// numbers at the edges or by other text of the document. Text that is no JSON comes back as it is.
std::string mutate_json(const std::string& text, std::mt19937& random);

}  // namespace symprof::fuzz
