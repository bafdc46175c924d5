// One operator of a script: run as in LibTorch's interpreter, and recorded if it involves tensors.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <vector>

#include "trace/torchscript/graph_recorder.h"

namespace symprof::trace::torchscript {

/// A number in Python code is a 0-d float64 or int64 constant in a trace. If `node` takes such a
/// constant, `inputs` get a tensor that promotes as a number (TensorImpl::is_wrapped_number):
/// `int64 tensor * -0.5` is float32 then.
void take_constants_as_numbers(const torch::jit::Node& node, std::vector<c10::IValue>& inputs);

/// The results of `node` on `inputs`. Calls that make or change a fake tensor go to `recorder`.
/// Every device becomes cuda:0, as in all graphs, except with only real tensors; `cast`: the dtype
/// to which the model was cast. Throws Error or c10::Error if it cannot run.
std::vector<c10::IValue> run_recorded(const torch::jit::Node& node, std::vector<c10::IValue> inputs,
                                      GraphRecorder& recorder, ScopeId scope,
                                      std::optional<DType> cast);

}  // namespace symprof::trace::torchscript
