// Sizes of an archive's tensors, whose data may be missing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/tensor_spec.h"

namespace symprof::workbench {

struct Storage {
  DType dtype = DType::float32;
  std::int64_t elements = 0;
  bool is_variance = false;  ///< Of a batch norm: positive.
};

/// By record ("weight_0"), from model_weights_config.json or model_constants_config.json of a .pt2.
/// Throws Error for other JSON.
std::map<std::string, Storage> storages_of_config(std::string_view json, const std::string& path);

/// By record ("0"), from a pickle that torch.jit.save wrote: its persistent ids are ("storage",
/// torch.FloatStorage, key, device, elements) (torch/csrc/jit/serialization/pickler.cpp). Throws
/// Error for a pickle with other operations than torch.jit.save's.
std::map<std::string, Storage> storages_of_pickle(std::string_view pickle, const std::string& path);

}  // namespace symprof::workbench
