// A reason why the engine runs kernels that a changed model would not need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace symprof::engine {

struct Cause {
  enum class Kind : std::uint8_t {
    residual,           ///< The residual input of an Add is not quantised.
    unquantized_op,     ///< An operator between quantised ones runs in a floating type.
    unquantized_input,  ///< An input of a convolution or a product is not quantised.
    chain,              ///< Q and DQ stand between a convolution and its activation.
    second_reader,      ///< Something else reads the tensor between the two.
    graph_output,       ///< The tensor between the two is an output of the model.
    precision,          ///< A type changes between the two.
    pointwise_head,     ///< Q and DQ before an operator that no convolution or product feeds.
    operand,            ///< The other operand is no constant and no residual.
    unknown,            ///< Neither the engine nor the model shows the reason.
  };
  Kind kind = Kind::unknown;
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
