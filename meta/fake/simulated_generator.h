// The simulated device's random generator: nothing draws from it, but a program seeds it, and saves
// and restores its state.
#pragma once

#include <ATen/core/Generator.h>

namespace symprof::meta {

/// A new generator of cuda:0.
at::Generator make_simulated_generator();

}  // namespace symprof::meta
