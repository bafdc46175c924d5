// A reason for kernels that a better model would not need.
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
    unknown,            ///< Nothing in the engine or the model tells.
  };
  Kind kind = Kind::unknown;
  std::string place;                  ///< The layer or node at which it shows.
  std::vector<int> layers;            ///< The kernels that would not run without it.
  std::string what;                   ///< A sentence.
  std::string change;                 ///< What to do in the model; empty where that is not known.
  std::optional<double> measured_ms;  ///< Of `layers`; empty without times.
  /// The layers that those of `layers` would be part of; empty where that is not known.
  std::vector<int> partners;
  std::optional<double> group_ms;  ///< Of `layers` and `partners`; empty without times.
  /// What a device needs at least where each of `partners` does the work of its own `layers`, too;
  /// empty without a device, without partners, or where a size is not known.
  std::optional<double> ideal_ms;
};

}  // namespace symprof::engine
