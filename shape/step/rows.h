// What a row of a recording takes from tensors, whether a graph node or a C++ call made it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shape/step/recorder.h"

namespace symprof::shape {

/// Adds an input to a row. To be called before the row's calls run: an in-place operator changes
/// what it is given. A parameter is claimed for the row if the row is the first to use it.
void add_row_input(NodeId node, const at::Tensor& tensor, Recorder& recorder);
/// Adds an output to a row, once the tensor is made.
void add_row_output(NodeId node, const at::Tensor& tensor, Recorder& recorder);

/// Appends the rows output, loss and optimizer, in this order; the answer is the first one's id.
NodeId add_closing_rows(Recording& recording);
/// Completes the output row: its inputs are `outputs`, the model's.
void finish_output_row(NodeId node, const std::vector<at::Tensor>& outputs, Recorder& recorder);

}  // namespace symprof::shape
