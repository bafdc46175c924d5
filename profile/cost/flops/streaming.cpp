#include "profile/cost/flops/streaming.h"

#include <algorithm>

namespace symprof::profile {
namespace {

/// Longer argument lists than this (foreach, stack of many) hold distinct tensors in practice;
/// comparing all pairs of thousands would cost more than the rest of the profile.
constexpr std::size_t longest_compared_list = 16;

bool same_tensor(const Call& call, const TensorRecord& a, const TensorRecord& b) {
  if (a.storage == none || a.storage != b.storage) return false;
  return a.spec == b.spec || *call.spec(a) == *call.spec(b);
}

bool seen_before(const Call& call, const std::vector<TensorRecord>& tensors, std::size_t index) {
  if (tensors.size() > longest_compared_list) return false;
  for (std::size_t i = 0; i < index; ++i)
    if (tensors[i].spec != none && same_tensor(call, tensors[i], tensors[index])) return true;
  return false;
}

}  // namespace

Count elements(const TensorSpec& tensor) {
  Count product = 1;
  for (std::int64_t size : tensor.sizes) product *= size;
  return product;
}

Count stored_elements(const TensorSpec& tensor) {
  Count product = 1;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    const bool expanded = i < tensor.strides.size() && tensor.strides[i] == 0;
    product *= expanded ? std::min<std::int64_t>(tensor.sizes[i], 1) : tensor.sizes[i];
  }
  return product;
}

Count stored_bytes(const TensorSpec& tensor) {
  return stored_elements(tensor) * element_bytes(tensor.dtype);
}

Count device_bytes(const Call& call, const TensorRecord& tensor) {
  const TensorSpec* spec = call.spec(tensor);
  if (!spec) return 0;
  if (tensor.storage == none) return stored_bytes(*spec);
  const StorageRecord& storage = call.recording().storages[tensor.storage];
  return storage.on_device ? std::min(stored_bytes(*spec), Count(storage.bytes)) : Count(0);
}

Count read_bytes(const Call& call, int except) {
  const CallRecord& record = call.record();
  Count bytes = 0;
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    if (record.inputs[i].spec == none || record.input_positions[i] == except) continue;
    if (!seen_before(call, record.inputs, i)) bytes += device_bytes(call, record.inputs[i]);
  }
  return bytes;
}

Count written_bytes(const Call& call) {
  const CallRecord& record = call.record();
  Count bytes = 0;
  for (std::size_t i = 0; i < record.outputs.size(); ++i)
    if (record.outputs[i].spec != none && !seen_before(call, record.outputs, i))
      bytes += device_bytes(call, record.outputs[i]);
  if (!record.outputs.empty() || !call.op().ends_with('_')) return bytes;
  for (std::size_t i = 0; i < record.inputs.size(); ++i)
    if (record.input_positions[i] == 0) bytes += device_bytes(call, record.inputs[i]);
  return bytes;
}

Cost cost(Flops flops, Count bytes_read, Count bytes_written) {
  return {.product_flops = flops.product.value(),
          .other_flops = flops.other.value(),
          .bytes_read = bytes_read.value(),
          .bytes_written = bytes_written.value()};
}

Cost streaming(const Call& call, Flops flops) {
  return cost(flops, read_bytes(call), written_bytes(call));
}

Estimate moves(const Call& call) { return streaming(call); }

Estimate touches_nothing(const Call&) { return Cost{}; }

Estimate gathers(const Call& call) {
  const Count written = written_bytes(call);
  return cost({}, read_bytes(call, 0) + written, written);
}

Estimate sorts(const Call& call) {
  const TensorSpec* self = call.input(0);
  if (!self) return std::nullopt;
  std::int64_t longest = 1, rounds = 0;
  for (std::int64_t size : self->sizes) longest = std::max(longest, size);
  while ((longest - 1) >> rounds) ++rounds;
  return streaming(call, {.other = rounds * elements(*self)});
}

}  // namespace symprof::profile
