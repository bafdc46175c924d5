// The nodes of a script that only make or take apart lists, tuples, dictionaries and objects.
// LibTorch's interpreter has instructions for them and no operators (runtime/interpreter.cpp).
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

namespace symprof::trace::torchscript {

using ContainerFunction = std::vector<c10::IValue> (*)(const torch::jit::Node& node,
                                                       std::vector<c10::IValue> inputs);

/// The function for nodes of this kind: from the values of its inputs to those of its outputs.
/// Null for other kinds.
ContainerFunction find_container_function(c10::Symbol kind);

}  // namespace symprof::trace::torchscript
