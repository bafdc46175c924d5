// A memory snapshot as torch.cuda.memory._dump_snapshot writes it, of a run that never happened:
// pytorch.org/memory_viz and torch/cuda/_memory_viz.py open it.
#pragma once

#include <fmt/format.h>

#include "profile/step_memory.h"

namespace symprof::report {

/// Frames name the node, the operator and the module of the call that ran; a frame's line is the
/// number of the call. Source of the format: torch/csrc/cuda/Module.cpp, _memory_viz.py.
void write_memory_snapshot(fmt::memory_buffer& out, const profile::MemoryTrace& trace,
                           const Recording& recording);

}  // namespace symprof::report
