// Collectives of torch.distributed on fake tensors. The process group does nothing; its work has
// no result, which DistributedDataParallel's reducer asks for.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace symprof::meta {

/// Whether a process group has the operator's kernel.
bool is_collective(const c10::OperatorHandle& op);

/// Calls the process group. Where it answers with its work, the result of that is the call's first
/// argument, the tensors that it changed in place.
void run_collective(const c10::OperatorHandle& op, torch::jit::Stack& stack);

}  // namespace symprof::meta
