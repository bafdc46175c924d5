#include "trace/exported/payload.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>

#include "trace/exported/tensor_meta.h"

namespace symprof::trace::exported {
namespace {

constexpr std::int64_t small_float_bytes = 4 << 10, small_integer_bytes = 64 << 10;

/// Elements from the storage's start to the tensor's last element; the maximum on overflow of 64
/// bits.
std::int64_t extent(const TensorSpec& spec) {
  std::int64_t end = 0;
  if (__builtin_add_overflow(spec.storage_offset, 1, &end))
    return std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
    if (spec.sizes[i] == 0) return 0;
    std::int64_t steps = 0;
    if (__builtin_mul_overflow(spec.sizes[i] - 1, spec.strides[i], &steps) ||
        __builtin_add_overflow(end, steps, &end))
      return std::numeric_limits<std::int64_t>::max();
  }
  return end;
}

bool is_small(const TensorSpec& spec) {
  std::int64_t bytes = element_bytes(spec.dtype);
  for (std::int64_t size : spec.sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return false;
  return bytes <= (is_floating_point(spec.dtype) ? small_float_bytes : small_integer_bytes);
}

/// Copies the elements of a strided tensor, row-major.
void gather(const TensorSpec& spec, const char* storage, std::byte* target) {
  const std::int64_t width = element_bytes(spec.dtype), count = spec.numel();
  std::vector<std::int64_t> index(spec.sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i, target += width) {
    std::int64_t position = spec.storage_offset;
    for (std::size_t d = 0; d < index.size(); ++d) position += index[d] * spec.strides[d];
    std::memcpy(target, storage + position * width, static_cast<std::size_t>(width));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < spec.sizes[d]) break;
      index[d] = 0;
    }
  }
}

/// True if the tensors of one record can share one storage. Slices have different offsets; those at
/// offset 0 have equal extents. An existing but too short record has no data.
bool is_one_storage(const Archive& archive,
                    const std::vector<const Payloads::value_type*>& members) {
  std::optional<std::int64_t> reach;
  for (const auto* member : members) {
    const Payload& payload = member->second;
    const std::int64_t own = extent(payload.spec);
    const auto available = archive.size_of(payload.record);
    if (!payload.has_storage) return false;
    if (payload.raw && available && *available / element_bytes(payload.spec.dtype) < own)
      return false;
    if (payload.spec.storage_offset != 0) continue;
    if (reach && *reach != own) return false;
    reach = own;
  }
  return true;
}

}  // namespace

Payloads read_payloads(const Archive& archive, std::string_view folder, std::string_view model,
                       simdjson::dom::parser& parser) {
  Payloads payloads;
  const std::string name = fmt::format("data/{}/{}_{}_config.json", folder, model, folder);
  if (!archive.contains(name)) return payloads;
  const Record record = archive.read(name);
  const Place place{archive.path(), name};
  const Json root = parse(parser, record.bytes.get(), record.size, place);
  for (const auto [key, value] : object(member(root, "config", place), place)) {
    const auto meta = optional_member(value, "tensor_meta");
    if (!meta) continue;  // A custom object.
    const Place entry{archive.path(), name, key};
    const TensorMeta tensor = tensor_meta(*meta, entry);
    if (tensor.symbolic) fail(entry, "a weight with a symbolic size");
    const std::string_view file = text(member(value, "path_name", entry), entry);
    payloads.emplace(
        key, Payload{fmt::format("data/{}/{}", folder, file), tensor.spec,
                     !boolean(member(value, "use_pickle", entry), entry), tensor.device != "meta"});
  }
  return payloads;
}

std::unordered_map<std::string, std::string> shared_storages(const Archive& archive,
                                                             const Payloads& payloads) {
  std::map<std::string_view, std::vector<const Payloads::value_type*>> groups;
  for (const auto& payload : payloads) groups[payload.second.record].push_back(&payload);
  std::unordered_map<std::string, std::string> keys;
  for (const auto& [record, members] : groups)
    if (members.size() > 1 && is_one_storage(archive, members))
      for (const auto* member : members) keys.emplace(member->first, record);
  return keys;
}

std::shared_ptr<const ConstantTensor> read_small_constant(const Archive& archive,
                                                          const Payload& payload) {
  const auto available = archive.size_of(payload.record);
  if (!is_small(payload.spec) || !available || *available > 16 * small_integer_bytes)
    return nullptr;
  return read_constant(archive, payload);
}

std::shared_ptr<const ConstantTensor> read_constant(const Archive& archive,
                                                    const Payload& payload) {
  const auto available = archive.size_of(payload.record);
  if (!payload.raw || !payload.has_storage || !available ||
      *available / element_bytes(payload.spec.dtype) < extent(payload.spec))
    return nullptr;
  const Record record = archive.read(payload.record);
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = payload.spec;
  constant->spec.strides = contiguous_strides(payload.spec.sizes);
  constant->spec.storage_offset = 0;
  constant->data.resize(static_cast<std::size_t>(payload.spec.bytes()));
  gather(payload.spec, record.bytes.get(), constant->data.data());
  return constant;
}

}  // namespace symprof::trace::exported
