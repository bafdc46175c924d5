// Clock cycles that some kernels of a GPU take for their work (devices/clocks/*.json). The rules of
// profile/cost/time/ read them for kernels that are slower than their memory traffic.
//
// Public header.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace symprof {

/// By "<rule>.<name>" ("roll.per_clock"). A name that ends in per_clock gives numbers processed in
/// one cycle of a multiprocessor; other names give cycles.
using KernelClocks = std::map<std::string, double, std::less<>>;

/// Reads a file of clocks. Throws Error that names the file, the key and what was expected.
KernelClocks load_kernel_clocks(const std::string& path);

}  // namespace symprof
