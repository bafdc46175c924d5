// Values of inputs, weights and results, as plain data.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::measure {

/// Values of inputs and weights, by name.
using LeafValues = std::map<std::string, std::shared_ptr<const ConstantTensor>>;
/// By output: its tensors, one but for sequences and empty optionals.
using OutputValues = std::vector<std::vector<std::shared_ptr<const ConstantTensor>>>;

/// Told of the values of one result, as in OutputValues, right after its node has run.
using ResultSink =
    std::function<void(ValueId result, const std::vector<std::shared_ptr<const ConstantTensor>>&)>;

}  // namespace symprof::measure
