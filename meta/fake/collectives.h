// Collectives of torch.distributed on fake tensors. The process group does nothing; its work has no
// result, but DistributedDataParallel's reducer needs one.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace symprof::meta {

/// True if a process group has the operator's kernel.
bool is_collective(const c10::OperatorHandle& op);

/// Calls the process group. If it returns its work, the work's result is set to the call's first
/// argument: the tensors that it changed in place.
void run_collective(const c10::OperatorHandle& op, torch::jit::Stack& stack);

}  // namespace symprof::meta
