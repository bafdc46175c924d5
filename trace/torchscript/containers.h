// Script nodes that only build or unpack lists, tuples, dictionaries and objects. LibTorch's
// interpreter has instructions instead of operators for them (runtime/interpreter.cpp).
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

namespace symprof::trace::torchscript {

using ContainerFunction = std::vector<c10::IValue> (*)(const torch::jit::Node& node,
                                                       std::vector<c10::IValue> inputs);

/// The function for nodes of this kind: from input to output values. Null for other kinds.
ContainerFunction find_container_function(c10::Symbol kind);

}  // namespace symprof::trace::torchscript
