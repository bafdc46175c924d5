// A memory snapshot as torch.cuda.memory._dump_snapshot writes it, of a run that never happened:
// pytorch.org/memory_viz and torch/cuda/_memory_viz.py open it.
#pragma once

#include <fmt/format.h>

#include "profile/memory/step_memory.h"
#include "snapshot/snapshot.h"

namespace symprof::report {

/// The frames of a block name the call that ran (the node, the operator and the call's number as
/// the line), the modules that own the block from the inside out, and its category. Source of the
/// format: torch/csrc/cuda/Module.cpp, _memory_viz.py.
void write_memory_snapshot(fmt::memory_buffer& out, const profile::MemoryTrace& trace,
                           const Recording& recording);

/// The same as `symprof memory` reads it.
snapshot::Snapshot predicted_snapshot(const profile::MemoryTrace& trace,
                                      const Recording& recording);

}  // namespace symprof::report
