#include "tests/support/torch/recorded_call.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/jit_type.h>
#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/error_text.h"
#include "profile/operators/operators.h"
#include "tests/support/torch/recorded_tensor.h"

namespace symprof::test {
namespace {

using nlohmann::json;

c10::OperatorHandle find_operator(const std::string& full_name) {
  const std::size_t dot = full_name.find('.');
  const std::string overload = dot == std::string::npos ? "" : full_name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchemaOrThrow(full_name.substr(0, dot).c_str(),
                                                        overload.c_str());
}

at::Scalar number(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_array()) return c10::complex<double>(value.at(0), value.at(1));
  return std::stod(value.get<std::string>());  // "inf", "nan"
}

at::Tensor wrapped_number(const json& value) {
  at::Tensor tensor = at::scalar_to_tensor(number(value), at::kCPU);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

at::Layout layout(const std::string& name) {
  if (name == "strided") return at::kStrided;
  throw std::invalid_argument("found layout " + name);
}

at::MemoryFormat memory_format(const std::string& name) {
  if (name == "contiguous_format") return at::MemoryFormat::Contiguous;
  if (name == "preserve_format") return at::MemoryFormat::Preserve;
  if (name == "channels_last") return at::MemoryFormat::ChannelsLast;
  if (name == "channels_last_3d") return at::MemoryFormat::ChannelsLast3d;
  throw std::invalid_argument("found memory format " + name);
}

// Makes the arguments of a call from JSON; the schema says what each text or number stands for.
class Decoder {
 public:
  explicit Decoder(Storages& storages) : storages_(storages) {}

  c10::IValue value(const json& value, const c10::TypePtr& type, std::int64_t length) {
    switch (type->kind()) {
      case c10::TypeKind::OptionalType:
        return value.is_null() ? c10::IValue() : this->value(value, type->containedType(0), length);
      case c10::TypeKind::ListType:
        return list(value, type->containedType(0), length);
      case c10::TypeKind::TensorType:
        return tensor(value);
      case c10::TypeKind::GeneratorType:
        return {};
      case c10::TypeKind::DeviceObjType:
        return c10::Device(c10::kCUDA, 0);
      case c10::TypeKind::StringType:
        return value.get<std::string>();
      case c10::TypeKind::BoolType:
        return value.get<bool>();
      case c10::TypeKind::FloatType:
        return number(value).toDouble();
      case c10::TypeKind::NumberType:
        return number(value);
      case c10::TypeKind::ScalarTypeType:
        if (value.is_number()) return value.get<std::int64_t>();  // A default of the schema.
        return meta::scalar_type(parse_dtype(value.get<std::string>()).value());
      case c10::TypeKind::LayoutType:
        return layout(value);
      case c10::TypeKind::MemoryFormatType:
        return memory_format(value);
      default:
        return value.get<std::int64_t>();
    }
  }

 private:
  at::Tensor tensor(const json& value) {
    if (value.is_null()) return {};
    return value.is_string() ? storages_.make(parse_tensor(value)) : wrapped_number(value);
  }

  // One number may stand for a list of a known length.
  c10::IValue list(const json& value, const c10::TypePtr& element, std::int64_t length) {
    const bool symbolic = element->kind() == c10::TypeKind::SymIntType;
    c10::impl::GenericList result(symbolic ? c10::IntType::get() : element);
    if (!value.is_array()) {
      for (std::int64_t i = 0; i < length; ++i) result.push_back(this->value(value, element, 0));
    } else {
      for (const json& entry : value) result.push_back(this->value(entry, element, 0));
    }
    return result;
  }

  Storages& storages_;
};

// Without elements, strides say nothing.
bool same_layout(const TensorSpec& wanted, const TensorSpec& found) {
  if (wanted.numel() == 0) return wanted.dtype == found.dtype && wanted.sizes == found.sizes;
  return wanted == found;
}

// Compares outputs with what was recorded of them.
class Comparison {
 public:
  explicit Comparison(Storages& storages) : storages_(storages) {}

  std::optional<std::string> outputs(const json& wanted, const torch::jit::Stack& found) {
    if (wanted.size() != found.size())
      return fmt::format("found {} outputs, wanted {}", found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (auto problem = output(wanted[i], found[i]))
        return fmt::format("output {}: {}", i, *problem);
    return std::nullopt;
  }

 private:
  std::optional<std::string> output(const json& wanted, const c10::IValue& found) {
    if (found.isTensorList() && wanted.is_array()) {
      const auto list = found.toTensorVector();
      if (list.size() != wanted.size())
        return fmt::format("found {} tensors, wanted {}", list.size(), wanted.size());
      for (std::size_t i = 0; i < list.size(); ++i)
        if (auto problem = tensor(wanted[i], list[i])) return problem;
      return std::nullopt;
    }
    if (found.isTensor()) return tensor(wanted, found.toTensor());
    return std::nullopt;  // A number: its value is data.
  }

  std::optional<std::string> tensor(const json& wanted, const at::Tensor& found) {
    if (wanted.is_null() || !found.defined()) {
      if (wanted.is_null() && !found.defined()) return std::nullopt;
      return fmt::format("found {}, wanted {}", describe(found), wanted.dump());
    }
    const RecordedTensor recorded = parse_tensor(wanted);
    if (!same_layout(recorded.spec, meta::spec_of(found)) || found.is_cpu() != recorded.on_host)
      return fmt::format("found {}, wanted {}", describe(found), wanted.dump());
    const auto bytes = static_cast<std::int64_t>(found.storage().nbytes());
    if (recorded.storage.empty() && found.numel() > 0 && bytes != recorded.storage_bytes)
      return fmt::format("{} lies in {} bytes, wanted {}", describe(found), bytes,
                         recorded.storage_bytes);
    if (!storages_.agree(recorded, found))
      return fmt::format("{} shares memory with other tensors than {}", describe(found),
                         wanted.dump());
    return std::nullopt;
  }

  Storages& storages_;
};

torch::jit::Stack arguments_of(const RecordedCall& call, const c10::FunctionSchema& schema,
                               Storages& storages) {
  Decoder decoder(storages);
  torch::jit::Stack stack;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (i >= call.arguments.size()) {
      stack.push_back(argument.default_value().value_or(c10::IValue()));
    } else {
      stack.push_back(
          decoder.value(call.arguments[i], argument.real_type(), argument.N().value_or(0)));
    }
  }
  return stack;
}

// What the call threw; nothing when it returned.
std::optional<std::string> error_of(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  try {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    op.callBoxed(&stack);
    return std::nullopt;
  } catch (const c10::Error& error) {
    return meta::first_line(error);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

RecordedCall parse_call(const std::string& line) {
  const json record = json::parse(line);
  RecordedCall call{record.at("op"), record.at("args"), Answer::error, {}};
  if (record.contains("raises")) return call;
  call.outputs = record.at("outs");
  call.answer = call.outputs.is_string() ? Answer::unknown : Answer::outputs;
  return call;
}

std::optional<std::string> complaint(const RecordedCall& call) try {
  const c10::OperatorHandle op = find_operator(call.op);
  Storages storages;
  torch::jit::Stack stack = arguments_of(call, op.schema(), storages);
  const auto error = error_of(op, stack);
  if (call.answer == Answer::error)
    return error ? std::nullopt : std::optional("found a result, wanted an error");
  if (call.answer == Answer::unknown) {
    if (!error) return "found a result, wanted the error that it depends on data";
    const bool says_so = error->find("depends on data") != std::string::npos ||
                         error->find("has no value") != std::string::npos;
    return says_so ? std::nullopt : error;
  }
  if (error) return error;
  return Comparison(storages).outputs(call.outputs, stack);
} catch (const std::exception& error) {
  return fmt::format("unexpected: {}", error.what());
}

}  // namespace symprof::test
