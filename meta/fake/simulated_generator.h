// Random numbers of the simulated device: nothing draws them, but a program seeds them, and keeps
// and restores their state.
#pragma once

#include <ATen/core/Generator.h>

namespace symprof::meta {

/// A new generator of cuda:0.
at::Generator make_simulated_generator();

}  // namespace symprof::meta
