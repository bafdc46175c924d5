#include "scripts/time/operator_kernels.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"
#include "profile/call_kernels.h"
#include "scripts/time/work_columns.h"

namespace symprof::profile {
namespace {

using nlohmann::json;

/// [dtype, sizes, strides, offset, is on the device]
TensorSpec spec_of(const json& given) {
  const auto name = given.at(0).get<std::string>();
  const std::optional<DType> dtype = parse_dtype(name);
  if (!dtype) throw Error(name, "is no dtype.", "Record the calls again.");
  TensorSpec spec;
  spec.dtype = *dtype;
  spec.sizes = given.at(1).get<std::vector<std::int64_t>>();
  spec.strides = given.at(2).get<std::vector<std::int64_t>>();
  spec.storage_offset = given.at(3).get<std::int64_t>();
  return spec;
}

/// A tensor has a storage of its own, as large as it needs.
StorageRecord storage_of(const TensorSpec& spec, bool on_device) {
  std::int64_t last = spec.storage_offset;
  for (std::size_t i = 0; i < spec.sizes.size(); ++i)
    last += spec.strides[i] * std::max<std::int64_t>(spec.sizes[i] - 1, 0);
  const std::int64_t numbers = spec.numel() == 0 ? 0 : last + 1;
  return {.bytes = numbers * element_bytes(spec.dtype), .on_device = on_device};
}

/// [op, [[position, spec]…], [[position, integer]…], [spec…], [TF32 in products, in convolutions]];
/// a spec of -1 is none.
CallRecord call_of(const json& given, const json& specs, Recording& recording) {
  const auto tensor = [&](const json& index) -> TensorRecord {
    const auto spec = index.get<std::int32_t>();
    if (spec < 0) return {};
    recording.storages.push_back(storage_of(recording.specs[static_cast<std::size_t>(spec)],
                                            specs.at(spec).at(4).get<bool>()));
    return {spec, static_cast<StorageId>(recording.storages.size()) - 1};
  };
  CallRecord call;
  call.op = given.at(0).get<std::int32_t>();
  call.node = 0;
  for (const json& input : given.at(1)) {
    call.input_positions.push_back(input.at(0).get<std::uint8_t>());
    call.inputs.push_back(tensor(input.at(1)));
  }
  for (const json& integer : given.at(2))
    call.integers.push_back({integer.at(0).get<std::uint8_t>(), integer.at(1).get<std::int64_t>()});
  for (const json& output : given.at(3)) call.outputs.push_back(tensor(output));
  call.tf32_products = given.at(4).at(0).get<bool>();
  call.tf32_convolutions = call.tf32_recurrent = given.at(4).at(1).get<bool>();
  return call;
}

Recording recording_of(const json& document) {
  Recording recording;
  recording.ops = document.at("ops").get<std::vector<std::string>>();
  recording.nodes.emplace_back();
  for (const json& spec : document.at("specs")) recording.specs.push_back(spec_of(spec));
  for (const json& call : document.at("calls"))
    recording.calls.push_back(call_of(call, document.at("specs"), recording));
  return recording;
}

json to_json(const LaunchEstimate& launches) {
  if (!launches) return nullptr;
  json kernels = json::array();
  for (const Kernel& kernel : launches->kernels)
    kernels.push_back({{"class", name(kernel.time_class)},
                       {"launches", kernel.launches},
                       {"work", columns_of(kernel.work)}});
  return kernels;
}

}  // namespace

void print_kernels(const DeviceSpec& device, const std::string& path, std::ostream& out) {
  std::ifstream file(path);
  if (!file) throw Error(path, "cannot be read.", "Name a file of recorded calls.");
  json result = json::array();
  for (const LaunchEstimate& launches : kernels_of(recording_of(json::parse(file)), device))
    result.push_back(to_json(launches));
  out << result << "\n";
}

}  // namespace symprof::profile
