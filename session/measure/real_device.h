// The devices that a step can really run on.
#pragma once

#include <string>

namespace symprof {

/// Returns "cpu", or "cuda:N" for "cuda" and "cuda:N". Throws Error for other texts.
std::string parse_real_device(const std::string& text);

}  // namespace symprof
