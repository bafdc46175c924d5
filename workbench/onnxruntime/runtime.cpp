#include "workbench/onnxruntime/runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "trace/onnx/tensors.h"

namespace symprof::workbench::ort {
namespace {

namespace fs = std::filesystem;

constexpr const char* variable = "SYMPROF_ONNXRUNTIME";

using OwnedTypeInfo = std::unique_ptr<TypeInfo, Releaser<TypeInfo, ReleaseTypeInfo>>;
using OwnedTensorInfo =
    std::unique_ptr<TensorTypeAndShapeInfo,
                    Releaser<TensorTypeAndShapeInfo, ReleaseTensorTypeAndShapeInfo>>;

[[noreturn]] void refuse(const std::string& why) {
  throw Error("onnxruntime", why,
              fmt::format("pip install onnxruntime has it; {} names it: "
                          ".../site-packages/onnxruntime/capi/libonnxruntime.so.1.32.0.",
                          variable),
              ErrorKind::not_available);
}

/// libonnxruntime.so.1.32.0 of the wheel in the active virtual environment; empty: none.
std::string library_of_environment() {
  const char* environment = std::getenv("VIRTUAL_ENV");
  std::error_code error;
  if (environment == nullptr) return {};
  for (const auto& python : fs::directory_iterator(fs::path(environment) / "lib", error)) {
    const fs::path folder = python.path() / "site-packages" / "onnxruntime" / "capi";
    for (const auto& file : fs::directory_iterator(folder, error))
      if (file.path().filename().string().starts_with("libonnxruntime.so"))
        return file.path().string();
  }
  return {};
}

void* open_library() {
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') {
    if (void* library = dlopen(given, RTLD_NOW | RTLD_LOCAL)) return library;
    refuse(fmt::format("its library cannot be loaded: {}", dlerror()));
  }
  for (const std::string& name : {std::string("libonnxruntime.so.1"),
                                  std::string("libonnxruntime.so"), library_of_environment()})
    if (!name.empty())
      if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  refuse("its library is not here");
}

}  // namespace

Runtime::Runtime() {
  void* library = open_library();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, entry_symbol));
  if (entry == nullptr) refuse(fmt::format("its library has no {}", entry_symbol));
  table_ = entry()->table(table_version);
  if (table_ == nullptr) refuse("its library is older than version 1.1");
  version_ = entry()->version();
  call<CreateEnv>(log_fatal, "symprof", &env_);
  call<CreateSessionOptions>(&options_);
  call<SetSessionGraphOptimizationLevel>(options_, optimize_nothing);
  call<SetSessionLogSeverityLevel>(options_, log_fatal);
  // A session for each node: no threads and no memory are kept for a second run.
  call<SetIntraOpNumThreads>(options_, 1);
  call<DisableMemPattern>(options_);
  call<DisableCpuMemArena>(options_);
  call<CreateCpuMemoryInfo>(allocator_of_device, memory_default, &memory_);
  call<GetAllocatorWithDefaultOptions>(&allocator_);
}

void Runtime::check(Status* status) const {
  if (status == nullptr) return;
  std::string text = GetErrorMessage::call(table_, status);
  ReleaseStatus::call(table_, status);
  std::ranges::replace(text, '\n', ' ');
  throw Error("onnxruntime " + version_, text);
}

OwnedSession Runtime::session(const std::string& model) const {
  Session* session = nullptr;
  call<CreateSessionFromArray>(env_, model.data(), model.size(), options_, &session);
  return {session, {table_}};
}

std::vector<OwnedValue> Runtime::run(Session& session, const std::vector<const char*>& inputs,
                                     const std::vector<const Value*>& values,
                                     const std::vector<const char*>& outputs) const {
  std::vector<Value*> made(outputs.size(), nullptr);
  call<Run>(&session, nullptr, inputs.data(), values.data(), inputs.size(), outputs.data(),
            outputs.size(), made.data());
  std::vector<OwnedValue> owned;
  owned.reserve(made.size());
  for (Value* value : made) owned.push_back({value, {table_}});
  return owned;
}

OwnedValue Runtime::value_of(const ConstantTensor& constant) const {
  const TensorSpec& spec = constant.spec;
  if (element_bits(spec.dtype) < 8)
    throw Error("onnxruntime", fmt::format("a tensor of {} is not handed over", name(spec.dtype)));
  Value* value = nullptr;
  // The runtime does not write to inputs.
  void* data = const_cast<std::byte*>(constant.data.data());
  call<CreateTensorWithDataAsOrtValue>(memory_, data, constant.data.size(), spec.sizes.data(),
                                       spec.sizes.size(), trace::onnx_element_type(spec.dtype),
                                       &value);
  return {value, {table_}};
}

std::shared_ptr<const ConstantTensor> Runtime::tensor_of(const Value& value) const {
  TensorTypeAndShapeInfo* described = nullptr;
  call<GetTensorTypeAndShape>(&value, &described);
  const OwnedTensorInfo info(described, {table_});
  onnx::TypeProto type;
  add_tensor_type(*info, true, type);
  const auto dtype = trace::onnx_dtype(type.tensor_type().elem_type());
  if (!dtype || element_bits(*dtype) < 8) return nullptr;
  auto tensor = std::make_shared<ConstantTensor>();
  tensor->spec.dtype = *dtype;
  for (const auto& dimension : type.tensor_type().shape().dim())
    tensor->spec.sizes.push_back(dimension.dim_value());
  tensor->spec.strides = contiguous_strides(tensor->spec.sizes);
  tensor->data.resize(static_cast<std::size_t>(tensor->spec.bytes()));
  void* data = nullptr;
  call<GetTensorMutableData>(const_cast<Value*>(&value), &data);
  if (!tensor->data.empty()) std::memcpy(tensor->data.data(), data, tensor->data.size());
  return tensor;
}

std::optional<Runtime::Tensors> Runtime::tensors_of(const Value& value) const {
  int kind = 0;
  call<GetValueType>(&value, &kind);
  Tensors tensors;
  if (kind == type_tensor) tensors.push_back(tensor_of(value));
  std::size_t count = 0;
  if (kind == type_sequence) call<GetValueCount>(&value, &count);
  for (std::size_t i = 0; i < count; ++i) {
    Value* element = nullptr;
    call<GetValue>(&value, static_cast<int>(i), allocator_, &element);
    const OwnedValue owned(element, {table_});
    tensors.push_back(tensor_of(*owned));
  }
  const bool is_known = kind == type_tensor || kind == type_sequence;
  if (!is_known || std::ranges::find(tensors, nullptr) != tensors.end()) return std::nullopt;
  return tensors;
}

void Runtime::add_tensor_type(const TensorTypeAndShapeInfo& info, bool with_sizes,
                              onnx::TypeProto& type) const {
  int element = 0;
  call<GetTensorElementType>(&info, &element);
  type.mutable_tensor_type()->set_elem_type(element);
  if (!with_sizes) return;
  std::size_t rank = 0;
  call<GetDimensionsCount>(&info, &rank);
  std::vector<std::int64_t> sizes(rank);
  call<GetDimensions>(&info, sizes.data(), rank);
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t size : sizes) shape->add_dim()->set_dim_value(size);
}

onnx::TypeProto Runtime::type_of(const Value& value) const {
  onnx::TypeProto type;
  TypeInfo* described = nullptr;
  call<GetTypeInfo>(&value, &described);
  const OwnedTypeInfo info(described, {table_});
  const TensorTypeAndShapeInfo* tensor = nullptr;
  call<CastTypeInfoToTensorInfo>(info.get(), &tensor);
  if (tensor != nullptr) {
    add_tensor_type(*tensor, true, type);
    return type;
  }
  const SequenceTypeInfo* sequence = nullptr;
  call<CastTypeInfoToSequenceTypeInfo>(info.get(), &sequence);
  if (sequence == nullptr) throw Error("onnxruntime", "a value is neither a tensor nor a sequence");
  TypeInfo* of_element = nullptr;
  call<GetSequenceElementType>(sequence, &of_element);
  const OwnedTypeInfo element(of_element, {table_});
  call<CastTypeInfoToTensorInfo>(element.get(), &tensor);
  if (tensor == nullptr) throw Error("onnxruntime", "a sequence has other things than tensors");
  add_tensor_type(*tensor, false, *type.mutable_sequence_type()->mutable_elem_type());
  return type;
}

}  // namespace symprof::workbench::ort
