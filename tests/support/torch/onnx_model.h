// Runs small ONNX models, written as text, on real CPU tensors.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "shape/lowering/lowering.h"

namespace symprof::testing {

/// The outputs of `graph` (ONNX text syntax, without the model header) for `inputs`.
lowering::Tensors run_onnx(const std::string& graph, const lowering::Tensors& inputs,
                           std::int64_t opset = 23);

/// The only output of `graph`.
at::Tensor run_one(const std::string& graph, const lowering::Tensors& inputs,
                   std::int64_t opset = 23);

/// The message of the Error that running throws; "no error" without one.
std::string error_of(const std::string& graph, const lowering::Tensors& inputs);

/// The autograd node that made `tensor`: "AddmmBackward0"; "none" without one.
std::string gradient_node(const at::Tensor& tensor);

at::Tensor reals(std::vector<double> values, std::vector<std::int64_t> sizes);
at::Tensor longs(std::vector<std::int64_t> values);
/// Normally distributed, and with a gradient.
at::Tensor trainable(std::vector<std::int64_t> sizes);

/// Whether sizes are equal, and values as close as fp32 sums in another order are.
bool close(const at::Tensor& a, const at::Tensor& b);

}  // namespace symprof::testing
