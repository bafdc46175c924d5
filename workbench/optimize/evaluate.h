// The value of an operator on constants.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "trace/graph/graph.h"

namespace onnx {
class NodeProto;
}

namespace symprof::workbench {

using ConstantPointer = std::shared_ptr<const ConstantTensor>;

/// The results of `node` on `inputs` (null where an optional input is left out), computed in the
/// types that ONNX gives; empty for an operator, an attribute or a dtype that has no rule here, and
/// where a result would have more than `most_elements`.
std::optional<std::vector<ConstantPointer>> evaluate(const onnx::NodeProto& node,
                                                     const std::vector<ConstantPointer>& inputs,
                                                     std::int64_t most_elements);

/// Whole numbers of an integer constant, of which axes, shapes and bounds are made.
std::vector<std::int64_t> integers_of(const ConstantTensor& tensor);
/// Numbers of any real constant.
std::vector<double> reals_of(const ConstantTensor& tensor);
/// A constant of `dtype` with these numbers, rounded to it.
ConstantPointer make_constant(DType dtype, std::vector<std::int64_t> sizes,
                              const std::vector<double>& values);
ConstantPointer make_integers(std::vector<std::int64_t> sizes,
                              const std::vector<std::int64_t>& values, DType dtype = DType::int64);

}  // namespace symprof::workbench
