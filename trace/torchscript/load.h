// TorchScript files (.pt of torch.jit.save) as a graph. The declarations need no LibTorch; the
// definitions of `load_torchscript` and below it do.
#pragma once

#include <string>

#include "trace/graph/graph.h"
#include "trace/torchscript/options.h"

namespace symprof::trace {

/// A trace whose Python is given has its lines, too.
constexpr GraphTraits script_traits{
    .inputs_are_bound = true,
    .functions_are_followed = true,
    .may_lack_attributes = true,
    .weights_are_pickled = true,
};

/// True if the content of the file is TorchScript. Throws Error when it cannot be read.
bool is_torchscript(const std::string& path);

/// Runs the script once on fake tensors: calls, branches and loops are followed, and every operator
/// that makes or changes a tensor becomes a node. The inputs of the result are bound. Inputs not
/// given in `options` have the shapes stored by torch.jit.trace. Weights are not read. Throws
/// Error: a broken file, an input without a shape, code that depends on a tensor's data or that
/// cannot be followed (the message names the line of the file's code).
Graph load_torchscript(const std::string& path, const TorchScriptOptions& options);

}  // namespace symprof::trace
