// numpy's repr of small flat arrays: numpy/_core/arrayprint.py, with its default options.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/float_bytes.h"
#include "report/onnx/python_text.h"
#include "trace/onnx/tensors.h"
#include "workbench/types.h"

namespace symprof::report {
namespace {

using workbench::numpy_name;

constexpr int most_digits = 8;  // numpy's precision.
constexpr std::size_t line_width = 75;

/// `value` rounded to `dtype`.
double rounded_to(double value, DType dtype) {
  if (dtype == DType::float64) return value;
  std::vector<std::byte> bytes(sizeof(double));
  std::memcpy(bytes.data(), &value, sizeof value);
  bytes = convert_floats(convert_floats(bytes, DType::float64, dtype), dtype, DType::float64);
  double back = value;
  if (bytes.size() == sizeof back) std::memcpy(&back, bytes.data(), sizeof back);
  return back;
}

/// Decimals of the mantissa in the shortest text that parses as `value` of `dtype`.
int shortest_decimals(double value, DType dtype) {
  for (int decimals = 0; decimals < 17; ++decimals)
    if (rounded_to(std::strtod(fmt::format("{:.{}e}", value, decimals).c_str(), nullptr), dtype) ==
        value)
      return decimals;
  return 17;
}

/// A finite number split at its point, and the exponent after 'e', if any.
struct NumberText {
  std::string whole, fraction, exponent;
};

NumberText split(const std::string& text) {
  NumberText parts;
  const auto e = text.find('e');
  const std::string mantissa = text.substr(0, e);
  if (e != text.npos) parts.exponent = text.substr(e + 1);
  const auto point = mantissa.find('.');
  parts.whole = mantissa.substr(0, point);
  if (point != mantissa.npos) parts.fraction = mantissa.substr(point + 1);
  return parts;
}

NumberText scientific(double value, DType dtype) {
  const int decimals = std::min(shortest_decimals(value, dtype), most_digits);
  return split(fmt::format("{:.{}e}", value, decimals));
}

NumberText positional(double value, DType dtype) {
  const int exponent = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::fabs(value))));
  const int decimals = std::clamp(shortest_decimals(value, dtype) - exponent, 0, most_digits);
  NumberText parts = split(fmt::format("{:.{}f}", value, decimals));
  while (parts.fraction.ends_with('0')) parts.fraction.pop_back();
  return parts;
}

/// FloatingFormat.fillFormat: an exponent for numbers of very different size.
bool wants_exponent(const std::vector<double>& values, DType dtype) {
  double least = 0, most = 0;
  for (const double value : values) {
    const double size = std::fabs(value);
    if (!std::isfinite(value) || size == 0) continue;
    least = least == 0 ? size : std::min(least, size);
    most = std::max(most, size);
  }
  const double cutoff = dtype == DType::float64 ? 1e8 : dtype == DType::float32 ? 1e8 : 1e3;
  return most != 0 && (most >= cutoff || least < 1e-4 || most / least > 1000);
}

std::vector<std::string> real_words(const std::vector<double>& values, DType dtype) {
  const bool exponent = wants_exponent(values, dtype);
  std::vector<NumberText> parts(values.size());
  std::size_t left = 0, right = 0, tail = 0, special = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      special = std::max<std::size_t>(special, std::isinf(values[i]) && values[i] < 0 ? 4 : 3);
      continue;
    }
    parts[i] = exponent ? scientific(values[i], dtype) : positional(values[i], dtype);
    left = std::max(left, parts[i].whole.size());
    right = std::max(right, parts[i].fraction.size());
    if (exponent) tail = std::max(tail, parts[i].exponent.size() + 1);
  }
  const std::size_t behind = right + tail + 1;  // Including the point.
  if (special > behind) left = std::max(left, special - behind);
  std::vector<std::string> words;
  words.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      const std::string text = std::isnan(values[i]) ? "nan" : values[i] > 0 ? "inf" : "-inf";
      words.push_back(fmt::format("{:>{}}", text, left + behind));
    } else if (exponent) {
      words.push_back(fmt::format("{:>{}}.{:0<{}}e{}", parts[i].whole, left, parts[i].fraction,
                                  right, parts[i].exponent));
    } else {
      words.push_back(fmt::format("{:>{}}.{:<{}}", parts[i].whole, left, parts[i].fraction, right));
    }
  }
  return words;
}

std::vector<std::string> aligned(std::vector<std::string> words) {
  std::size_t widest = 0;
  for (const std::string& word : words) widest = std::max(widest, word.size());
  for (std::string& word : words) word = fmt::format("{:>{}}", word, widest);
  return words;
}

std::vector<std::string> words_of(const TensorElements& elements, DType dtype) {
  const bool has_format =
      dtype == DType::float64 || dtype == DType::float32 || dtype == DType::float16;
  if (!elements.reals.empty() && has_format) return real_words(elements.reals, dtype);
  std::vector<std::string> words;
  const std::size_t count =
      std::max({elements.integers.size(), elements.reals.size(), elements.strings.size()});
  words.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = element_text(elements, i);
    if (dtype == DType::boolean && text == "True") text = " True";
    if (!elements.reals.empty() && text.ends_with(".0")) text.resize(text.size() - 2);
    words.push_back(std::move(text));
  }
  return elements.strings.empty() ? aligned(std::move(words)) : words;
}

}  // namespace

std::string numpy_repr(const onnx::TensorProto& tensor) {
  const auto elements = elements_of(tensor, static_cast<std::size_t>(-1));
  if (!elements) return {};
  const DType dtype = trace::onnx_dtype(tensor.data_type()).value_or(DType::float64);
  const std::vector<std::string> words = words_of(*elements, dtype);
  const std::string indent(7, ' ');
  std::string text, line = indent;
  for (const std::string& word : words) {
    if (line.size() + word.size() > line_width - 2 && line.size() > indent.size()) {
      text += line.substr(0, line.size() - 1) + '\n';
      line = indent;
    }
    line += word;
    if (&word != &words.back()) line += ", ";
  }
  text = "array([" + (text + line).substr(indent.size()) + ']';
  const bool is_default =
      dtype == DType::float64 || dtype == DType::int64 || dtype == DType::boolean;
  if (is_default && !words.empty() && elements->strings.empty()) return text + ')';
  const std::string kind = fmt::format("dtype={})", numpy_name(tensor.data_type()));
  const std::size_t last = text.size() - (text.rfind('\n') + 1);
  return text + (last + kind.size() + 1 > line_width ? ",\n      " : ", ") + kind;
}

}  // namespace symprof::report
