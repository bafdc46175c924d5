// Python code of a plan's file that creates persistent tensors before the first step: the
// optimizer's states, and cuBLAS's workspaces.
#pragma once

#include <fmt/format.h>

#include <string>

#include "session/checkpoint_answer.h"
#include "session/session.h"

namespace symprof::report {

/// Its functions; nothing where the optimizer has no states and the step no products.
void write_warm_start(fmt::memory_buffer& out, const CheckpointAnswer& answer);

/// The calls of them in apply_plan, whose arguments are `model` and, where `takes_optimizer`,
/// `optimizer`.
std::string warm_start_calls(const CheckpointAnswer& answer);
bool takes_optimizer(const CheckpointAnswer& answer);

}  // namespace symprof::report
