// Records besides the graph: the file of each weight, and small constants' bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/exported/archive.h"
#include "trace/exported/json.h"
#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// `PayloadMeta` of the schema.
struct Payload {
  std::string record;  ///< "data/weights/weight_3".
  TensorSpec spec;
  bool raw = true;          ///< The record has the storage's bytes, not a pickle.
  bool has_storage = true;  ///< False for a tensor on the meta device.
};

/// Payloads by fully qualified name.
using Payloads = std::unordered_map<std::string, Payload>;

/// Reads data/<folder>/<model>_<folder>_config.json. An archive without one has no payloads.
Payloads read_payloads(const Archive& archive, std::string_view folder, std::string_view model,
                       simdjson::dom::parser& parser);

/// The storage key of each tensor that shares its storage with another (tied weights). Tensors of
/// one storage are written as one record; but tensors without data (meta or fake) are also all
/// written as one, so such a record does not imply sharing.
std::unordered_map<std::string, std::string> shared_storages(const Archive& archive,
                                                             const Payloads& payloads);

/// The tensor's bytes if it is small (4 KiB; 64 KiB for integers and bools, used in indices) and
/// its record exists; otherwise null.
std::shared_ptr<const ConstantTensor> read_small_constant(const Archive& archive,
                                                          const Payload& payload);

/// The same of a tensor of any size that an archive can hold (Archive::read).
std::shared_ptr<const ConstantTensor> read_constant(const Archive& archive, const Payload& payload);

}  // namespace symprof::trace::exported
