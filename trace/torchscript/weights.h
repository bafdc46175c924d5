// The weights of a TorchScript file. The declaration needs no LibTorch; the definition does.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "trace/graph/graph.h"

namespace symprof::trace {

using WeightValues = std::map<std::string, std::shared_ptr<const ConstantTensor>>;

/// Parameters, buffers and other tensors of the file's module, by the names of the graph's values;
/// those without data are omitted. Throws Error for a broken file.
WeightValues load_torchscript_weights(const std::string& path);

}  // namespace symprof::trace
