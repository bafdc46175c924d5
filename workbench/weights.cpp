#include "workbench/weights.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/error.h"
#include "trace/onnx/tensors.h"
#include "workbench/constants.h"
#include "workbench/random.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

constexpr const char* note_key = "symprof.values";  ///< "mean deviation least greatest".
constexpr const char* absent_file = "weights-stripped-by-symprof";

struct Moments {
  double mean = 0, deviation = 0.02;
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
};

std::optional<Moments> moments_of(const onnx::TensorProto& tensor) {
  const auto dtype = trace::onnx_dtype(tensor.data_type());
  if (!dtype || !is_floating_point(*dtype)) return std::nullopt;
  const std::vector<double> values = reals_of(*trace::constant_tensor(tensor, tensor.name()));
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  Moments moments{0, 0, values[0], values[0]};
  for (const double value : values) {
    moments.mean += value / count;
    moments.least = std::min(moments.least, value);
    moments.greatest = std::max(moments.greatest, value);
  }
  for (const double value : values)
    moments.deviation += (value - moments.mean) * (value - moments.mean) / count;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

std::optional<Moments> noted(const onnx::TensorProto& tensor) {
  for (const onnx::StringStringEntryProto& entry : tensor.metadata_props()) {
    if (entry.key() != note_key) continue;
    Moments moments;
    const char* at = entry.value().c_str();
    char* end = nullptr;
    for (double* number : {&moments.mean, &moments.deviation, &moments.least, &moments.greatest}) {
      *number = std::strtod(at, &end);
      if (end == at || std::isnan(*number)) return std::nullopt;
      at = end;
    }
    return moments;
  }
  return std::nullopt;
}

void note(onnx::TensorProto& tensor, const Moments& moments) {
  auto* entry = tensor.add_metadata_props();
  entry->set_key(note_key);
  entry->set_value(
      fmt::format("{} {} {} {}", moments.mean, moments.deviation, moments.least, moments.greatest));
}

void clear_data(onnx::TensorProto& tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
}

std::string numbers_of(DType dtype, std::int64_t count, std::uint64_t seed,
                       const Moments& moments) {
  std::string data(static_cast<std::size_t>(count * element_bytes(dtype)), '\0');
  if (!is_floating_point(dtype) || element_bits(dtype) < 16) return data;
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = std::clamp(moments.mean + moments.deviation * random.normal(), moments.least,
                       moments.greatest);
  const ConstantPointer made = make_constant(dtype, {count}, values);
  if (made) std::memcpy(data.data(), made->data.data(), std::min(data.size(), made->data.size()));
  return data;
}

std::string random_bytes(const onnx::TensorProto& tensor, std::uint64_t seed) {
  const auto dtype = trace::onnx_dtype(tensor.data_type());
  if (!dtype || !is_floating_point(*dtype) || element_bits(*dtype) < 16)
    return std::string(static_cast<std::size_t>(tensor_bytes(tensor)), '\0');
  return numbers_of(*dtype, element_count(tensor), seed ^ hash_of(tensor.name()),
                    noted(tensor).value_or(Moments()));
}

bool lacks_data(const onnx::TensorProto& tensor, const std::string& path) {
  if (element_count(tensor) == 0 || tensor.data_type() == onnx::TensorProto::STRING) return false;
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return false;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data())
    if (entry.key() == "location") {
      std::error_code error;
      return !std::filesystem::exists(std::filesystem::path(path).parent_path() / entry.value(),
                                      error);
    }
  return true;
}

}  // namespace

std::string normal_bytes(DType dtype, std::int64_t count, std::uint64_t seed, double mean,
                         double deviation) {
  Moments moments;
  moments.mean = mean;
  moments.deviation = deviation;
  return numbers_of(dtype, count, seed, moments);
}

WeightsReport strip(onnx::ModelProto& model, std::int64_t largest) {
  WeightsReport report;
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    const std::int64_t bytes = tensor_bytes(tensor);
    if (bytes <= largest || tensor.data_type() == onnx::TensorProto::STRING) continue;
    const bool is_here = tensor.data_location() != onnx::TensorProto::EXTERNAL;
    if (const auto moments = is_here ? moments_of(tensor) : std::nullopt) note(tensor, *moments);
    clear_data(tensor);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto* location = tensor.add_external_data();
    location->set_key("location");
    location->set_value(absent_file);
    ++report.tensors;
    report.bytes += bytes;
  }
  return report;
}

WeightsReport fill(onnx::ModelProto& model, const std::string& path, std::uint64_t seed) {
  WeightsReport report;
  std::int64_t left = (std::int64_t{1} << 31) - static_cast<std::int64_t>(model.ByteSizeLong());
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (!lacks_data(tensor, path)) continue;
    const std::int64_t bytes = tensor_bytes(tensor);
    left -= bytes;
    if (left < 0)
      throw Error(path,
                  "the model with its weights would have 2 GiB or more, which no ONNX file "
                  "holds",
                  "Fill a part of it, or a smaller model.");
    std::string data = random_bytes(tensor, seed);
    clear_data(tensor);
    tensor.clear_data_location();
    tensor.set_raw_data(std::move(data));
    ++report.tensors;
    report.bytes += bytes;
  }
  return report;
}

}  // namespace symprof::workbench
