// Causes of avoidable kernels: quantizers that were not fused, casts, and activations that were not
// fused into the preceding convolution.
#pragma once

#include <vector>

#include "engine/cause.h"
#include "engine/map.h"
#include "engine/summary.h"

namespace symprof::engine {

/// From the engine's own tensors, and, where `model` and `map` are given, from the model's nodes.
/// In the order of the layers. Conditions of fusions: NVIDIA's "Layer Fusion Catalog" and its rules
/// for placing Q and DQ; which nodes make a group: modelopt/onnx/quantization/partitioning.py.
std::vector<Cause> find_causes(const Engine& engine, const EngineSummary& summary,
                               const Model* model, const NodeMap* map);

}  // namespace symprof::engine
