#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/values_setting.h"
#include "trace/graph/expression.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/input_values.h"

namespace symprof::trace {
namespace {

const std::string input_form =
    fmt::format("Write {}, for example {}.", setting("inputs", "NAME=DTYPE[DIMS]"),
                setting("inputs", "x=float32[8,3,224,224]"));
const std::string set_form = fmt::format(
    "Write {}, for example {}.", setting("sizes", "SYMBOL=SIZE"), setting("sizes", "batch=8"));

const std::vector<std::string> usual_dtypes = {"float32", "float16", "bfloat16", "float64", "int64",
                                               "int32",   "int16",   "int8",     "uint8",   "bool"};

std::optional<std::int64_t> size_of(std::string_view text) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return size;
}

Dimension parse_dimension(std::string_view text, const SettingRef& where) {
  const std::string_view written = trimmed(text);
  if (const auto size = size_of(written)) {
    if (*size < 0) throw Error(where, fmt::format("the size {} is below zero", *size), input_form);
    return {*size, {}};
  }
  if (!is_symbol(written))
    throw Error(where, fmt::format("'{}' is neither a size nor a symbol", written), input_form);
  return {-1, std::string(written)};
}

std::vector<Dimension> parse_dimensions(std::string_view text, const SettingRef& where) {
  std::vector<Dimension> dimensions;
  if (trimmed(text).empty()) return dimensions;
  for (;;) {
    const std::size_t comma = text.find(',');
    dimensions.push_back(parse_dimension(text.substr(0, comma), where));
    if (comma == std::string_view::npos) return dimensions;
    text.remove_prefix(comma + 1);
  }
}

DType parse_named_dtype(std::string_view text, const SettingRef& where) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  const std::string hint = did_you_mean(text, usual_dtypes);
  throw Error(where, fmt::format("unknown dtype '{}'", text), hint.empty() ? input_form : hint);
}

}  // namespace

InputOverride parse_input_override(const std::string& text) {
  const SettingRef where{"inputs", text};
  const std::size_t open = text.find('[');
  const std::size_t equals = text.substr(0, open).rfind('=');
  const std::size_t close = text.find(']', std::min(open, text.size()));
  if (equals == std::string::npos || close == std::string::npos)
    throw Error(where, "is not of the form NAME=DTYPE[DIMS]", input_form);
  const std::string_view behind = trimmed(std::string_view(text).substr(close + 1));
  if (!behind.empty() && !(behind.starts_with('{') && behind.ends_with('}')))
    throw Error(where, "is not of the form NAME=DTYPE[DIMS] or NAME=DTYPE[DIMS]{VALUES}",
                fmt::format("Write {}, for example {}.",
                            setting("inputs", "NAME=DTYPE[DIMS]{VALUES}"), values_setting()));
  InputOverride result;
  result.text = text;
  result.name = trimmed(std::string_view(text).substr(0, equals));
  if (result.name.empty()) throw Error(where, "names no input", input_form);
  const std::string_view dtype =
      trimmed(std::string_view(text).substr(equals + 1, open - equals - 1));
  if (!dtype.empty()) result.dtype = parse_named_dtype(dtype, where);
  result.dimensions =
      parse_dimensions(std::string_view(text).substr(open + 1, close - open - 1), where);
  if (!behind.empty())
    result.values = parse_input_values(behind.substr(1, behind.size() - 2), where);
  return result;
}

std::string to_string(const InputOverride& input) {
  if (!input.text.empty()) return input.text;
  std::string dimensions;
  for (const Dimension& dimension : input.dimensions)
    dimensions += (dimensions.empty() ? "" : ",") +
                  (dimension.symbol.empty() ? std::to_string(dimension.size) : dimension.symbol);
  return fmt::format("{}={}[{}]{}", input.name, input.dtype ? symprof::name(*input.dtype) : "",
                     dimensions, input.values ? to_string(*input.values) : "");
}

std::pair<std::string, std::int64_t> parse_binding(const std::string& text) {
  const SettingRef where{"sizes", text};
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos) throw Error(where, "is not of the form SYMBOL=SIZE", set_form);
  const std::string_view name = trimmed(std::string_view(text).substr(0, equals));
  const std::string_view value = trimmed(std::string_view(text).substr(equals + 1));
  const auto size = size_of(value);
  if (name.empty()) throw Error(where, "names no symbol", set_form);
  if (!size) throw Error(where, fmt::format("'{}' is not a size", value), set_form);
  if (*size < 0) throw Error(where, fmt::format("the size {} is below zero", *size), set_form);
  return {std::string(name), *size};
}

}  // namespace symprof::trace
