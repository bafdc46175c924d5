#include "trace/passes/input_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/float_bytes.h"
#include "base/text.h"
#include "base/values_setting.h"
#include "trace/numpy/array_file.h"

namespace symprof::trace {
namespace {

/// Values are for inputs whose numbers decide sizes: lengths, offsets, masks.
constexpr std::int64_t most_elements = std::int64_t{1} << 20;

const std::string values_form = fmt::format("Write {} or {}.", values_setting(),
                                            setting("inputs", "lengths=int64[3]{@lengths.npy}"));

/// Writes numbers of one dtype, row by row.
class ValueWriter {
 public:
  ValueWriter(DType dtype, const SettingRef& where) : dtype_(dtype), where_(where) {}

  std::vector<std::byte> take() { return std::move(bytes_); }

  void add(std::string_view number) {
    if (dtype_ == DType::boolean)
      bytes_.push_back(static_cast<std::byte>(truth(number)));
    else if (is_floating_point(dtype_))
      add_float(number);
    else if (dtype_ == DType::uint64)
      append_integer(parse<std::uint64_t>(number));
    else
      add_integer(number);
  }

 private:
  [[noreturn]] void fail(std::string problem) const {
    throw Error(where_, std::move(problem), values_form);
  }

  void append(const void* from, std::size_t count) {
    const auto* bytes = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + count);
  }

  /// The low bytes of a number on a little-endian host.
  template <class Integer>
  void append_integer(Integer number) {
    append(&number, static_cast<std::size_t>(element_bytes(dtype_)));
  }

  template <class Number>
  Number parse(std::string_view text) const {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range)
      fail(fmt::format("'{}' does not fit into {}", text, symprof::name(dtype_)));
    if (error != std::errc{} || end != text.data() + text.size())
      fail(fmt::format("'{}' is not {}; the input is {}", text,
                       std::is_integral_v<Number> ? "an integer" : "a number",
                       symprof::name(dtype_)));
    return number;
  }

  void add_integer(std::string_view text) {
    const bool is_unsigned =
        dtype_ == DType::uint8 || dtype_ == DType::uint16 || dtype_ == DType::uint32;
    const auto number = parse<std::int64_t>(text);
    const std::int64_t bits = element_bits(dtype_);
    if (bits < 64) {
      const std::int64_t past = std::int64_t{1} << (is_unsigned ? bits : bits - 1);
      if (number >= past || number < (is_unsigned ? 0 : -past))
        fail(fmt::format("'{}' does not fit into {}", text, symprof::name(dtype_)));
    }
    append_integer(number);
  }

  void add_float(std::string_view text) {
    const auto number = parse<double>(text);
    std::vector<std::byte> wide(sizeof number);
    std::memcpy(wide.data(), &number, sizeof number);
    const auto bytes =
        dtype_ == DType::float64 ? wide : convert_floats(wide, DType::float64, dtype_);
    append(bytes.data(), bytes.size());
  }

  bool truth(std::string_view text) const {
    if (text == "1" || text == "true" || text == "True") return true;
    if (text == "0" || text == "false" || text == "False") return false;
    fail(fmt::format("'{}' is neither true nor false; the input is bool", text));
  }

  DType dtype_;
  const SettingRef& where_;
  std::vector<std::byte> bytes_;
};

bool can_be_given(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
      return true;
    default:
      return false;
  }
}

numpy::Array array_of_file(const std::string& path, const SettingRef& where) try {
  return numpy::read_array(path, most_elements);
} catch (const Error& error) {
  throw Error(where, error.summary(unspelled), error.advice(unspelled));
}

std::vector<std::byte> bytes_of_file(const std::string& path, const TensorSpec& wanted,
                                     const SettingRef& where) {
  numpy::Array array = array_of_file(path, where);
  if (array.spec.dtype == wanted.dtype && array.spec.sizes == wanted.sizes)
    return std::move(array.data);
  throw Error(
      where,
      fmt::format("{} holds {}; the input is {}", path, to_string(array.spec), to_string(wanted)),
      "Save an array of that dtype and shape, or give the input those of the file.");
}

}  // namespace

InputValues parse_input_values(std::string_view text, const SettingRef& where) {
  text = trimmed(text);
  InputValues values;
  if (text.starts_with('@')) {
    values.file = trimmed(text.substr(1));
    if (values.file.empty()) throw Error(where, "names no file", values_form);
    return values;
  }
  if (text.empty()) return values;
  for (;;) {
    const std::size_t comma = text.find(',');
    values.numbers.emplace_back(trimmed(text.substr(0, comma)));
    if (values.numbers.back().empty()) throw Error(where, "has a value that is empty", values_form);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const InputValues& values) {
  return values.file.empty() ? fmt::format("{{{}}}", fmt::join(values.numbers, ","))
                             : fmt::format("{{@{}}}", values.file);
}

std::shared_ptr<const ConstantTensor> data_of(const InputValues& values, const TensorSpec& spec,
                                              const SettingRef& where) {
  if (!can_be_given(spec.dtype))
    throw Error(where, fmt::format("values of {} cannot be given", symprof::name(spec.dtype)),
                "Integers, floats of two bytes and more, and truth values can.");
  if (spec.numel() > most_elements)
    throw Error(where, fmt::format("{} is too large to be given values", to_string(spec)),
                "Values are for small inputs, whose numbers decide sizes.");
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = spec;
  constant->spec.strides = contiguous_strides(spec.sizes);
  constant->spec.storage_offset = 0;
  if (!values.file.empty()) {
    constant->data = bytes_of_file(values.file, spec, where);
    return constant;
  }
  if (static_cast<std::int64_t>(values.numbers.size()) != spec.numel())
    throw Error(where,
                fmt::format("{} value{} for the {} element{} of {}", values.numbers.size(),
                            values.numbers.size() == 1 ? "" : "s", spec.numel(),
                            spec.numel() == 1 ? "" : "s", to_string(spec)),
                "Give a value for each element, row by row.");
  ValueWriter writer(spec.dtype, where);
  for (const std::string& number : values.numbers) writer.add(number);
  constant->data = writer.take();
  return constant;
}

}  // namespace symprof::trace
