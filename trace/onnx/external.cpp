#include "trace/onnx/external.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "trace/onnx/mapped_file.h"
#include "trace/onnx/tensors.h"

namespace symprof::trace {
namespace {

namespace fs = std::filesystem;

/// The external_data fields (onnx.proto, TensorProto).
struct Place {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

Place place_of(const onnx::TensorProto& tensor, const std::string& path) {
  Place place;
  const auto number = [&](const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
      throw Error(path, fmt::format("the data of '{}' is said to lie at '{}'", tensor.name(), text),
                  "Wanted: a number of bytes.");
    return value;
  };
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = number(entry.value());
    if (entry.key() == "length") place.length = number(entry.value());
  }
  return place;
}

/// Security: a model must not read files outside its folder.
void check_is_inside(const Place& place, const onnx::TensorProto& tensor, const std::string& path) {
  const fs::path location = place.location;
  if (location.is_absolute() || std::find(location.begin(), location.end(), "..") != location.end())
    throw Error(
        path, fmt::format("the data of '{}' is said to lie in '{}'", tensor.name(), place.location),
        "Wanted: a file in the folder of the model.");
}

}  // namespace

std::shared_ptr<const ConstantTensor> external_tensor(const onnx::TensorProto& tensor,
                                                      const std::string& path) {
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = tensor_spec(tensor, path);
  const Place place = place_of(tensor, path);
  check_is_inside(place, tensor, path);
  const fs::path file = fs::path(path).parent_path() / place.location;
  std::error_code error;
  if (place.location.empty() || !fs::is_regular_file(file, error)) return constant;
  const auto bytes = static_cast<std::uint64_t>(constant->spec.bytes());
  if (place.length && *place.length != bytes)
    throw Error(path,
                fmt::format("tensor '{}' is {} and is said to have {} bytes of data; wanted {}",
                            tensor.name(), to_string(constant->spec), *place.length, bytes));
  const MappedFile mapped(file.string());
  if (place.offset > mapped.bytes().size() || bytes > mapped.bytes().size() - place.offset)
    throw Error(file.string(), fmt::format("ends before the data of '{}'", tensor.name()));
  const auto* data = reinterpret_cast<const std::byte*>(mapped.bytes().data()) + place.offset;
  constant->data.assign(data, data + bytes);
  return constant;
}

}  // namespace symprof::trace
