#include "trace/onnx/recorded_sizes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "trace/onnx/tensors.h"

namespace symprof::trace {
namespace {

void note(const onnx::TypeProto& result, Value& value) {
  if (value.kind != ValueKind::result || !result.has_tensor_type()) return;
  const onnx::TypeProto::Tensor& type = result.tensor_type();
  const auto dtype = onnx_dtype(type.elem_type());
  if (!dtype || !type.has_shape()) return;
  value.recorded_dtype = dtype;
  value.recorded_sizes.emplace();
  for (const auto& size : type.shape().dim())
    value.recorded_sizes->push_back(
        size.has_dim_value() ? Dimension{std::max<std::int64_t>(size.dim_value(), -1), {}}
                             : Dimension{-1, size.dim_param()});
}

}  // namespace

void note_sizes(const onnx::GraphProto& source,
                const std::unordered_map<std::string, ValueId>& values, Graph& graph) {
  for (const auto* list : {&source.value_info(), &source.output()})
    for (const onnx::ValueInfoProto& result : *list)
      if (const auto found = values.find(result.name());
          found != values.end() && found->second != no_value)
        note(result.type(), graph.value(found->second));
}

}  // namespace symprof::trace
