// Causes of avoidable kernels: quantizers that were not fused, casts, and activations that were not
// fused into the preceding convolution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/map.h"
#include "engine/summary.h"

namespace symprof::engine {

struct Cause {
  enum class Kind : std::uint8_t {
    residual,           ///< The residual input of an Add is not quantized.
    unquantized_op,     ///< An operator between quantized ones runs in a floating-point dtype.
    unquantized_input,  ///< An input of a convolution or a product is not quantized.
    chain,              ///< Q and DQ stand between a convolution and its activation.
    second_reader,      ///< The tensor between the two has another consumer.
    graph_output,       ///< The tensor between the two is an output of the model.
    precision,          ///< The dtype changes between the two.
    pointwise_head,     ///< Q and DQ before an operator not fed by a convolution or product.
    operand,            ///< The other operand is neither a constant nor a residual.
    untold,             ///< Unknown: not visible in the engine or the model.
  };
  Kind kind = Kind::untold;
  std::string place;                  ///< The layer or node of the symptom.
  std::vector<int> layers;            ///< The avoidable kernels.
  std::string what;                   ///< A sentence.
  std::string change;                 ///< How to change the model; empty if unknown.
  std::optional<double> measured_ms;  ///< Of `layers`; empty without times.
  /// The layers into which `layers` would be fused; empty if unknown.
  std::vector<int> partners;
  std::optional<double> group_ms;  ///< Of `layers` and `partners`; empty without times.
  /// Roofline bound if each of `partners` also does the work of its `layers`; empty without a
  /// device or partners, or if a size is unknown.
  std::optional<double> ideal_ms;
};

/// Finds causes from the engine's tensors and, if `model` and `map` are given, from the model's
/// nodes. In the order of the layers. Conditions of fusions: NVIDIA's "Layer Fusion Catalog" and
/// its rules for placing Q and DQ; which nodes make a group:
/// modelopt/onnx/quantization/partitioning.py.
std::vector<Cause> find_causes(const Engine& engine, const EngineSummary& summary,
                               const Model* model, const NodeMap* map);

std::string_view name(Cause::Kind kind);

}  // namespace symprof::engine
