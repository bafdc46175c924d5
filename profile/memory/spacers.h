// Blocks that a loop holds during a part of each forward pass, and never reads: what the step makes
// meanwhile finds their places taken, and lies elsewhere.
//
// PyTorch's allocator gives a request the smallest free place that does. What is asked for early
// and stays may so cut up the place that a large block needs later.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof::profile {

/// One block of more than `small_limit_bytes`, on the default stream. `from` and `until` are paths
/// of modules as a recording has them: "layers.0", of its second call "layers.0@1". The block is
/// asked for when `from` begins, and given back when `until` does.
struct Spacer {
  std::int64_t bytes = 0;
  std::string from, until;

  bool operator==(const Spacer&) const = default;
};

/// A module that runs in the forward pass, and the first call that it makes.
struct ModuleBegin {
  std::string path;
  CallId call = none;
};

/// In the order of their calls; where several begin with the same call, the outermost first. The
/// model itself is not among them.
std::vector<ModuleBegin> module_begins(const Recording& recording);

/// The calls before which a spacer is asked for and given back.
struct SpacerCalls {
  CallId from = none, until = none;
};

/// Of each of `spacers`. Throws Error where a module does not run in the forward pass, where
/// `until` does not begin after `from`, and for a step on several ranks.
std::vector<SpacerCalls> calls_of(const std::vector<Spacer>& spacers, const Recording& recording);

}  // namespace symprof::profile
