// The contract of a lowering: it maps an ONNX operator to the ATen calls that PyTorch would make,
// so that autograd saves what PyTorch saves.
//
// Tensors are fake device tensors, or real host tensors: small integers (constants, results of
// Shape and values computed from them) and scalars. Sizes, axes and bounds are read from real
// tensors; a fake tensor there is a data-dependent shape and an Error.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::lowering {

using Tensors = std::vector<at::Tensor>;
using Integers = std::vector<std::int64_t>;

/// The node being lowered: its operands and attributes. Every accessor throws Error (the
/// interpreter adds the node) if the file has another type there.
struct OnnxCall {
  const Node& node;
  const Graph& graph;
  Tensors inputs;  ///< Undefined for an omitted input.
  /// The device of results that are too large for the host.
  c10::Device device = c10::kCPU;

  bool has(std::size_t index) const;
  /// A required input.
  const at::Tensor& input(std::size_t index) const;
  /// An input or an undefined tensor.
  at::Tensor optional_input(std::size_t index) const;
  /// The graph value of an input; null if it is omitted.
  const Value* value(std::size_t index) const;

  /// The numbers of a shape, axes or bounds operand. Throws Error if they depend on data.
  Integers integers_of(std::size_t index) const;
  std::vector<double> reals_of(std::size_t index) const;
  std::int64_t integer_of(std::size_t index) const;
  double real_of(std::size_t index) const;
  /// The number of a known one-element operand, of any rank.
  std::optional<at::Scalar> known_scalar(std::size_t index) const;

  /// An attribute; `otherwise`, empty or null if the node omits it.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  double real(std::string_view attribute, double otherwise) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  std::optional<Integers> integers(std::string_view attribute) const;
  std::optional<std::vector<double>> reals(std::string_view attribute) const;
  std::optional<std::vector<std::string>> texts(std::string_view attribute) const;
  std::shared_ptr<const ConstantTensor> tensor(std::string_view attribute) const;
  /// True for an integer attribute that is not 0.
  bool is_set(std::string_view attribute) const { return integer(attribute, 0) != 0; }

  /// The opset of the default domain; the newest one if the file imports none.
  std::int64_t opset() const;
  /// True if the node names this output.
  bool wants_output(std::size_t index) const;

  /// Throws Error with the problem and the expected value or advice.
  [[noreturn]] void fail(std::string problem, std::string advice = "") const;

 private:
  template <class T>
  const T* attribute_value(std::string_view attribute, std::string_view wanted) const;
};

/// An operator and its lowering function.
struct Lowering {
  std::string_view op;  ///< Node::op: "onnx::Conv".
  Tensors (*run)(OnnxCall&);
};

/// Null for an operator without a lowering.
const Lowering* find_lowering(std::string_view op);

/// The operators with a lowering, sorted.
std::vector<std::string> known_operators();

}  // namespace symprof::lowering
