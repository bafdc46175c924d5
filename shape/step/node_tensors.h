// Tensors of a recording's node, created by a graph node or a C++ call.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shape/step/recorder.h"

namespace symprof::shape {

/// Adds an input to a node. Call it before the node's calls run: an in-place operator changes its
/// inputs. A parameter is claimed for the first node that uses it.
void add_node_input(NodeId node, const at::Tensor& tensor, Recorder& recorder);
/// Adds an output to a node after the tensor is created.
void add_node_output(NodeId node, const at::Tensor& tensor, Recorder& recorder);

/// Appends the nodes output, loss and optimizer, in this order; returns the first one's id.
NodeId add_closing_nodes(Recording& recording);
/// Completes the output node: its inputs are the model's `outputs`.
void finish_output_node(NodeId node, const std::vector<at::Tensor>& outputs, Recorder& recorder);

}  // namespace symprof::shape
