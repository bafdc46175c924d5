// The contract of a lowering: an ONNX operator as the ATen calls that PyTorch would make for it, so
// that autograd saves for it what PyTorch saves.
//
// Tensors are fake ones of the device, or real ones on the host: small integers (constants, what
// Shape gives and what is computed from that) and scalars. Sizes, axes and bounds are read from
// real ones; what is not real there is a shape that depends on data, and an Error.
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

/// One node that runs: its operands and attributes. Every accessor throws Error (the interpreter
/// adds the node) when the file has something else there.
struct OnnxCall {
  const Node& node;
  const Graph& graph;
  Tensors inputs;  ///< Undefined where the node leaves an input out.
  /// Where results go that are too large for the host.
  c10::Device device = c10::kCPU;

  bool has(std::size_t index) const;
  /// An input that has to be there.
  const at::Tensor& input(std::size_t index) const;
  /// An input or an undefined tensor.
  at::Tensor optional_input(std::size_t index) const;
  /// The graph value behind an input; null when it is left out.
  const Value* value(std::size_t index) const;

  /// The numbers of a shape, axes, bounds … operand. Throws Error when they depend on data.
  Integers integers_of(std::size_t index) const;
  std::vector<double> reals_of(std::size_t index) const;
  std::int64_t integer_of(std::size_t index) const;
  double real_of(std::size_t index) const;
  /// The number of a one-element operand that is known, whatever its rank.
  std::optional<at::Scalar> known_scalar(std::size_t index) const;

  /// An attribute; `otherwise`, empty or null where the node leaves it out.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  double real(std::string_view attribute, double otherwise) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  std::optional<Integers> integers(std::string_view attribute) const;
  std::optional<std::vector<double>> reals(std::string_view attribute) const;
  std::optional<std::vector<std::string>> texts(std::string_view attribute) const;
  std::shared_ptr<const ConstantTensor> tensor(std::string_view attribute) const;
  /// True for an integer attribute that is not 0.
  bool is_set(std::string_view attribute) const { return integer(attribute, 0) != 0; }

  /// The opset of the default domain; the newest when the file does not import it.
  std::int64_t opset() const;
  /// Whether the node names this output.
  bool wants_output(std::size_t index) const;

  /// Throws Error: what was found, and what was wanted or what to do.
  [[noreturn]] void fail(std::string problem, std::string advice = "") const;

 private:
  template <class T>
  const T* attribute_value(std::string_view attribute, std::string_view wanted) const;
};

/// An operator, and the function that makes its calls.
struct Lowering {
  std::string_view op;  ///< Node::op: "onnx::Conv".
  Tensors (*run)(OnnxCall&);
};

/// Null for an operator that nothing here lowers.
const Lowering* find_lowering(std::string_view op);

/// The operators that are lowered, sorted.
std::vector<std::string> known_operators();

}  // namespace symprof::lowering
