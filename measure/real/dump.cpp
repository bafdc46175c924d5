#include "measure/real/dump.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/whole_file.h"
#include "meta/fake/convert.h"

namespace symprof {
namespace {

namespace dump = trace::dump;

/// A dense CPU copy, in a dtype of ONNX that represents the same values, if there is one.
at::Tensor as_plain(const at::Tensor& tensor) {
  at::Tensor plain = tensor.detach();
  if (plain.layout() != at::kStrided) plain = plain.to_dense();
  if (plain.is_quantized()) plain = plain.dequantize();
  if (plain.scalar_type() == at::kComplexHalf) plain = plain.to(at::kComplexFloat);
  return plain.to(at::kCPU).contiguous().resolve_conj().resolve_neg();
}

std::shared_ptr<const ConstantTensor> copy_of(const at::Tensor& tensor) {
  const at::Tensor plain = as_plain(tensor);
  auto copy = std::make_shared<ConstantTensor>();
  copy->spec = meta::spec_of(plain);
  copy->spec.storage_offset = 0;
  copy->data.resize(plain.nbytes());
  if (!copy->data.empty()) std::memcpy(copy->data.data(), plain.const_data_ptr(), plain.nbytes());
  return copy;
}

void write(const std::string& path, const std::string& bytes) {
  if (const std::error_code reason = write_whole_file(path, bytes))
    throw Error(path, "cannot be written: " + reason.message(), "Give another file.");
}

}  // namespace

Dump::Value Dump::value_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const bool is_empty =
      tensor.layout() == at::kStrided && tensor.numel() > 0 && tensor.storage().data() == nullptr;
  if (tensor.is_meta() || is_empty)
    throw Error("Dump",
                fmt::format("a tensor of {} has no data", c10::toString(tensor.scalar_type())),
                "Dump a module with real weights, not one of build_fake.");
  return dump::tensor_value(copy_of(tensor));
}

std::int64_t Dump::begin(const std::string& name, std::vector<Value> arguments) {
  const std::int64_t iteration = iterations_[name]++;
  Value given = dump::container_value(dump::Kind::tuple, std::move(arguments));
  Value named = dump::container_value(dump::Kind::dictionary);
  add({name, iteration, dump::Side::input,
       dump::container_value(dump::Kind::tuple, {std::move(given), std::move(named)})});
  return iteration;
}

void Dump::end(const std::string& name, std::int64_t iteration, Value answer) {
  add({name, iteration, dump::Side::output, std::move(answer)});
}

void Dump::add_weights(const std::string& name,
                       std::vector<std::pair<std::string, Value>> weights) {
  Value value = dump::container_value(dump::Kind::dictionary);
  for (auto& [key, weight] : weights) {
    value.keys.push_back(key);
    value.items.push_back(std::move(weight));
  }
  add({name, 0, dump::Side::weights, std::move(value)});
}

void Dump::add_other(const std::string& name, Value value) {
  std::string free_name = name;
  const auto is_taken = [&] {
    for (const dump::Entry& entry : dump_.entries)
      if (entry.side == dump::Side::other && entry.name == free_name) return true;
    return false;
  };
  for (int i = 1; is_taken(); ++i) free_name = fmt::format("{}_{}", name, i);
  dump_.entries.push_back({free_name, 0, dump::Side::other, std::move(value)});
}

void Dump::add(dump::Entry entry) {
  const std::int64_t bytes = dump::bytes_of(entry.value);
  if (bytes > limit_bytes_)
    dump_.left_out.push_back({entry.name, entry.iteration, entry.side, bytes});
  else
    dump_.entries.push_back(std::move(entry));
}

void Dump::save(const std::string& path) const {
  const std::string data = path + ".data";
  const dump::Written written =
      dump::write_dump(dump_, std::filesystem::path(data).filename().string());
  if (!written.data.empty()) write(data, written.data);
  write(path, written.model);
}

}  // namespace symprof
