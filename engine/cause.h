// A reason why the engine runs kernels that a changed model would not need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::engine {

struct Cause {
  /// A word of JSON and of docs/reference/engine.md.
  using Kind = std::string_view;
  /// The residual input of an Add is not quantized.
  static constexpr Kind residual = "residual";
  /// An operator between quantized ones runs in a floating type.
  static constexpr Kind unquantized_op = "unquantized_op";
  /// An input of a convolution or a product is not quantized.
  static constexpr Kind unquantized_input = "unquantized_input";
  /// Q and DQ stand between a convolution and its activation.
  static constexpr Kind chain = "chain";
  /// Something else reads the tensor between the two.
  static constexpr Kind second_reader = "second_reader";
  /// The tensor between the two is an output of the model.
  static constexpr Kind graph_output = "graph_output";
  /// A type changes between the two.
  static constexpr Kind precision = "precision";
  /// Q and DQ before an operator that no convolution or product feeds.
  static constexpr Kind pointwise_head = "pointwise_head";
  /// The other operand is no constant and no residual.
  static constexpr Kind operand = "operand";
  /// Neither the engine nor the model shows the reason.
  static constexpr Kind unknown = "untold";

  Kind kind = unknown;
  std::string place;                  ///< The layer or node where the cause is.
  std::vector<int> layers;            ///< The layers that would be fused away without the cause.
  std::string what;                   ///< A sentence.
  std::string change;                 ///< The change to make in the model; empty if unknown.
  std::optional<double> measured_ms;  ///< Of `layers`; empty without times.
  /// The layers that `layers` would be fused into; empty if unknown.
  std::vector<int> partners;
  std::optional<double> group_ms;  ///< Of `layers` and `partners`; empty without times.
  /// Roofline bound of the time of `partners` if each also did the work of its share of `layers`;
  /// empty without a device, without partners, or if a size is unknown.
  std::optional<double> ideal_ms;
};

}  // namespace symprof::engine
