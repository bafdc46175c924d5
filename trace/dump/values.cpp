#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <limits>

#include "trace/dump/dump.h"
#include "trace/onnx/tensors.h"

namespace symprof::trace::dump {
namespace {

constexpr std::int32_t string_type = 8;  // TensorProto::STRING.

template <class Number>
Value number_value(Kind kind, DType dtype, Number number) {
  auto tensor = std::make_shared<ConstantTensor>();
  tensor->spec = {dtype, {1}, {1}, 0};
  tensor->data.resize(sizeof number);
  std::memcpy(tensor->data.data(), &number, sizeof number);
  Value value;
  value.kind = kind;
  value.tensor = std::move(tensor);
  return value;
}

template <class Number>
Number number_of(const Value& value) {
  Number number{};
  if (value.tensor && value.tensor->data.size() >= sizeof number)
    std::memcpy(&number, value.tensor->data.data(), sizeof number);
  return number;
}

/// Python prints a whole float with ".0".
std::string real_text(double number) {
  const std::string text = fmt::format("{}", number);
  return text.find_first_not_of("-0123456789") == text.npos ? text + ".0" : text;
}

std::string tensor_text(const Value& value) {
  if (value.is_text() && value.string_sizes.empty() && value.strings.size() == 1)
    return fmt::format("str={}", value.strings[0]);
  const auto& sizes = value.tensor ? value.tensor->spec.sizes : value.string_sizes;
  return fmt::format("{}{}s{}", value.kind == Kind::tensor ? 'T' : 'A',
                     value.tensor ? onnx_element_type(value.tensor->spec.dtype) : string_type,
                     fmt::join(sizes, "x"));
}

std::string entries_text(const Value& value, std::string_view mark) {
  std::vector<std::string> texts;
  texts.reserve(value.items.size());
  for (std::size_t i = 0; i < value.items.size(); ++i)
    texts.push_back(fmt::format("{}{}{}", value.keys[i], mark, text_of(value.items[i])));
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string items_text(const Value& value) {
  std::vector<std::string> texts;
  texts.reserve(value.items.size());
  for (const Value& item : value.items) texts.push_back(text_of(item));
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace

std::int64_t bytes_of(const Value& value) {
  std::int64_t bytes = 0;
  const auto add = [&](std::int64_t more) {  // A file may declare more than it has.
    if (__builtin_add_overflow(bytes, more, &bytes))
      bytes = std::numeric_limits<std::int64_t>::max();
  };
  for_each_leaf(value, [&](const std::string&, const Value& leaf) {
    if (leaf.tensor) add(leaf.tensor->spec.bytes());
    for (const std::string& text : leaf.strings) add(static_cast<std::int64_t>(text.size()));
  });
  return bytes;
}

std::string_view letter_of(Side side) {
  switch (side) {
    case Side::input:
      return "I";
    case Side::output:
      return "O";
    case Side::weights:
      return "W";
    case Side::other:
      break;
  }
  return "";
}

std::string key_text(const Entry& entry) {
  if (entry.side == Side::other) return entry.name;
  return fmt::format("('{}', {}, '{}')", entry.name, entry.iteration, letter_of(entry.side));
}

std::string text_of(const Value& value) {
  switch (value.kind) {
    case Kind::none:
      return "None";
    case Kind::tensor:
    case Kind::array:
      return tensor_text(value);
    case Kind::integer:
      return fmt::format("int={}", number_of<std::int64_t>(value));
    case Kind::real:
      return "float=" + real_text(number_of<double>(value));
    case Kind::boolean:
      return fmt::format("bool={}", number_of<std::uint8_t>(value) ? "True" : "False");
    case Kind::list:
      return fmt::format("#{}[{}]", value.items.size(), items_text(value));
    case Kind::tuple:
      return fmt::format("({}{})", items_text(value), value.items.size() == 1 ? "," : "");
    case Kind::dictionary:
      return value.items.empty() ? "{}" : fmt::format("dict({})", entries_text(value, ":"));
    case Kind::cache:
      return fmt::format("{}({})", value.class_name, entries_text(value, "="));
  }
  return "";
}

Value tensor_value(std::shared_ptr<const ConstantTensor> tensor, std::string label) {
  Value value;
  value.kind = Kind::tensor;
  value.tensor = std::move(tensor);
  value.label = std::move(label);
  return value;
}

Value integer_value(std::int64_t number) {
  return number_value(Kind::integer, DType::int64, number);
}

Value real_value(double number) { return number_value(Kind::real, DType::float64, number); }

Value boolean_value(bool truth) {
  return number_value(Kind::boolean, DType::boolean, static_cast<std::uint8_t>(truth));
}

Value text_value(std::string text) {
  Value value;
  value.kind = Kind::array;
  value.strings.push_back(std::move(text));
  return value;
}

Value container_value(Kind kind, std::vector<Value> items, std::vector<std::string> keys) {
  Value value;
  value.kind = kind;
  value.items = std::move(items);
  value.keys = std::move(keys);
  return value;
}

}  // namespace symprof::trace::dump
