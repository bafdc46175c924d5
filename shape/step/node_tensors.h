// What a node of a recording takes from tensors, whether a graph node or a C++ call made it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shape/step/recorder.h"

namespace symprof::shape {

/// Adds an input to a node. To be called before the node's calls run: an in-place operator changes
/// what it is given. A parameter is claimed for the node if the node is the first to use it.
void add_node_input(NodeId node, const at::Tensor& tensor, Recorder& recorder);
/// Adds an output to a node, once the tensor is made.
void add_node_output(NodeId node, const at::Tensor& tensor, Recorder& recorder);

/// Appends the nodes output, loss and optimizer, in this order; the answer is the first one's id.
NodeId add_closing_nodes(Recording& recording);
/// Completes the output node: its inputs are `outputs`, the model's.
void finish_output_node(NodeId node, const std::vector<at::Tensor>& outputs, Recorder& recorder);

}  // namespace symprof::shape
