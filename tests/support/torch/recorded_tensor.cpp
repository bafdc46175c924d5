#include "tests/support/torch/recorded_tensor.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::test {
namespace {

// Reads the pieces of a description from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool take(char wanted) {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view until(char end) {
    const std::size_t length = text_.find(end);
    if (length == std::string_view::npos)
      throw std::invalid_argument(fmt::format("found '{}', wanted a '{}' in it", text_, end));
    const std::string_view found = text_.substr(0, length);
    text_.remove_prefix(length + 1);
    return found;
  }

  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc())
      throw std::invalid_argument(fmt::format("found '{}', wanted a number", text_));
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }

  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> values;
    while (!text_.empty() && text_.front() != '|' && text_.front() != ']') {
      values.push_back(number());
      take(',');
    }
    return values;
  }

 private:
  std::string_view text_;
};

std::int64_t needed_bytes(const TensorSpec& spec) {
  if (spec.numel() == 0) return 0;
  std::int64_t last = spec.storage_offset;
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) last += (spec.sizes[i] - 1) * spec.strides[i];
  return (last + 1) * element_bytes(spec.dtype);
}

const c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  return tensor.storage().unsafeGetStorageImpl();
}

}  // namespace

RecordedTensor parse_tensor(const std::string& text) {
  Reader reader(text);
  RecordedTensor result;
  const std::string_view dtype = reader.until('[');
  const auto parsed = parse_dtype(dtype);
  if (!parsed) throw std::invalid_argument(fmt::format("found dtype '{}'", dtype));
  result.spec.dtype = *parsed;
  result.spec.sizes = reader.numbers();
  result.spec.strides = reader.take('|') ? reader.numbers() : contiguous_strides(result.spec.sizes);
  reader.until(']');
  if (reader.take('+')) result.spec.storage_offset = reader.number();
  if (reader.take('#')) result.storage = std::to_string(reader.number());
  result.storage_bytes = reader.take('!') ? reader.number() : needed_bytes(result.spec);
  result.on_host = reader.take('@');
  return result;
}

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  const TensorSpec spec = meta::spec_of(tensor);
  std::string text = fmt::format("{}[{}", name(spec.dtype), fmt::join(spec.sizes, ","));
  if (spec.strides != contiguous_strides(spec.sizes))
    text += fmt::format("|{}", fmt::join(spec.strides, ","));
  text += "]";
  if (spec.storage_offset != 0) text += fmt::format("+{}", spec.storage_offset);
  return text + (tensor.is_cpu() ? "@cpu" : "");
}

at::Tensor Storages::make(const RecordedTensor& recorded) {
  at::Tensor& base = recorded.storage.empty() ? alive_.emplace_back() : bases_[recorded.storage];
  const auto bytes = at::TensorOptions(at::kMeta).dtype(at::kByte);
  if (!base.defined()) base = at::empty({recorded.storage_bytes}, bytes);
  names_[storage_of(base)] = recorded.storage;
  const at::Tensor meta = at::empty({0}, bytes.dtype(meta::scalar_type(recorded.spec.dtype)))
                              .set_(base.storage(), recorded.spec.storage_offset,
                                    recorded.spec.sizes, recorded.spec.strides);
  return meta::wrap_meta(
      meta, recorded.on_host ? c10::Device(c10::kCPU) : c10::Device(c10::kCUDA, 0), nullptr);
}

bool Storages::agree(const RecordedTensor& recorded, const at::Tensor& output) {
  alive_.push_back(output);
  const auto [known, is_new] = names_.try_emplace(storage_of(output), recorded.storage);
  if (!is_new) return !recorded.storage.empty() && known->second == recorded.storage;
  if (recorded.storage.empty()) return true;
  return std::ranges::count(names_, recorded.storage,
                            [](const auto& entry) { return entry.second; }) == 1;
}

}  // namespace symprof::test
