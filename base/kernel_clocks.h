// Clocks that kernels of a GPU take for their work, as devices/clocks/*.json has them: what the
// rules of profile/cost/time/ ask where a kernel takes longer than its bytes.
//
// Public header.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace symprof {

/// By "<rule>.<name>" ("roll.per_clock"). Names that end in per_clock are numbers for each clock of
/// a multiprocessor, others are clocks.
using KernelClocks = std::map<std::string, double, std::less<>>;

/// Throws Error with the file, the key and what was wanted.
KernelClocks load_kernel_clocks(const std::string& path);

}  // namespace symprof
