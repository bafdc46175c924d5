#include "trace/onnx/constant_number.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace symprof::trace {
namespace {

constexpr int most_nodes_of_number = 16;  // In a row; exporters write six.

template <class T>
std::optional<T> element(const ConstantTensor& constant) {
  if (constant.data.size() != sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, constant.data.data(), sizeof value);
  return value;
}

template <class T>
std::optional<double> as_double(const ConstantTensor& constant) {
  const auto value = element<T>(constant);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

// The upper half of a float32.
std::optional<double> bfloat16_number(const ConstantTensor& constant) {
  const auto bits = element<std::uint16_t>(constant);
  if (!bits) return std::nullopt;
  const std::uint32_t wide = static_cast<std::uint32_t>(*bits) << 16U;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// IEEE 754 binary16: one bit of sign, five of exponent (bias 15), ten of fraction.
std::optional<double> float16_number(const ConstantTensor& constant) {
  const auto bits = element<std::uint16_t>(constant);
  if (!bits) return std::nullopt;
  const auto exponent = static_cast<int>(*bits >> 10U & 0x1fU);
  const auto fraction = static_cast<int>(*bits & 0x3ffU);
  double size = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) size = std::ldexp(fraction, -24);
  if (exponent == 0x1f)
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  return (*bits & 0x8000U) != 0 ? -size : size;
}

std::optional<double> number_in(const ConstantTensor& constant) {
  switch (constant.spec.dtype) {
    case DType::float32:
      return as_double<float>(constant);
    case DType::float64:
      return as_double<double>(constant);
    case DType::int32:
      return as_double<std::int32_t>(constant);
    case DType::int64:
      return as_double<std::int64_t>(constant);
    case DType::bfloat16:
      return bfloat16_number(constant);
    case DType::float16:
      return float16_number(constant);
    default:
      return std::nullopt;
  }
}

std::optional<double> find(const Graph& graph, const Uses& uses, ValueId id, int depth) {
  if (id == no_value || depth == 0) return std::nullopt;
  if (const auto& constant = graph.value(id).constant) return number_in(*constant);
  const auto maker = uses.maker(id);
  if (!maker) return std::nullopt;
  const Node& node = graph.nodes[*maker];
  const bool one =
      node.op == "onnx::Cast" || node.op == "onnx::CastLike" || node.op == "onnx::Sqrt";
  if (!one && node.op != "onnx::Mul" && node.op != "onnx::Div") return std::nullopt;
  const auto first = find(graph, uses, operand(node, 0), depth - 1);
  if (one) return first && node.op == "onnx::Sqrt" ? std::optional(std::sqrt(*first)) : first;
  const auto second = find(graph, uses, operand(node, 1), depth - 1);
  if (!first || !second) return std::nullopt;
  return node.op == "onnx::Mul" ? *first * *second : *first / *second;
}

}  // namespace

std::optional<double> constant_number(const Graph& graph, const Uses& uses, ValueId id) {
  return find(graph, uses, id, most_nodes_of_number);
}

}  // namespace symprof::trace
