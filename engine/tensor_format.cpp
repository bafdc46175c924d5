#include "engine/tensor_format.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace symprof::engine {
namespace {

struct TypeWord {
  std::string_view word, dtype;
  std::int64_t bits;
};

/// Names changed over the versions: FP32 of sentences is Float of bare types.
constexpr TypeWord type_words[] = {
    {"Float", "float32", 32},   {"FP32", "float32", 32},      {"Half", "float16", 16},
    {"FP16", "float16", 16},    {"BFloat16", "bfloat16", 16}, {"BF16", "bfloat16", 16},
    {"Int8", "int8", 8},        {"INT8", "int8", 8},          {"FP8", "float8", 8},
    {"UInt8", "uint8", 8},      {"UINT8", "uint8", 8},        {"Bool", "bool", 8},
    {"BOOL", "bool", 8},        {"Int32", "int32", 32},       {"INT32", "int32", 32},
    {"Int64", "int64", 64},     {"INT64", "int64", 64},       {"FP4E2M1", "float4", 4},
    {"FP4", "float4", 4},       {"Int4", "int4", 4},          {"INT4", "int4", 4},
    {"E8M0", "float8_e8m0", 8}, {"Double", "float64", 64},
};

struct LayoutWords {
  std::string_view words, layout;
  std::int64_t width;
};

/// Of two with a common prefix, the longer comes first.
constexpr LayoutWords layouts[] = {
    {"Thirty-two wide channel vectorized", "NC/32HW32", 32},
    {"Sixteen wide channel vectorized", "NC/16HW16", 16},
    {"Eight wide channel vectorized", "NC/8HW8", 8},
    {"Four wide channel vectorized", "NC/4HW4", 4},
    {"Two wide channel vectorized", "NC/2HW2", 2},
    {"Channel major", "NHWC", 1},
    {"Row major", "NCHW", 1},
};

/// The k of "where channel % k == 0"; 1 without it.
std::int64_t alignment(std::string_view format) {
  constexpr std::string_view words = "channel % ";
  const std::size_t at = format.find(words);
  if (at == std::string_view::npos) return 1;
  const std::string_view digits = format.substr(at + words.size());
  std::int64_t value = 1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return std::clamp<std::int64_t>(value, 1, 1024);
}

}  // namespace

std::string_view dtype_of(std::string_view word) {
  const auto found = std::ranges::find(type_words, word, &TypeWord::word);
  return found == std::end(type_words) ? std::string_view() : found->dtype;
}

std::optional<std::int64_t> element_bits(std::string_view dtype) {
  const auto found = std::ranges::find(type_words, dtype, &TypeWord::dtype);
  if (found == std::end(type_words)) return std::nullopt;
  return found->bits;
}

void set_format(Tensor& tensor, std::string_view format) {
  for (const LayoutWords& each : layouts)
    if (format.starts_with(each.words)) {
      tensor.layout = each.layout;
      tensor.vector_width = std::max(each.width, alignment(format));
      break;
    }
  for (std::size_t at = 0; at < format.size() && tensor.dtype.empty();) {
    const std::size_t end = std::min(format.find_first_of(" .", at), format.size());
    tensor.dtype = dtype_of(format.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace symprof::engine
