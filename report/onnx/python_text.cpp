#include "report/onnx/python_text.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "trace/onnx/tensors.h"
#include "workbench/constants.h"

namespace symprof::report {
namespace {

using workbench::integers_of;
using workbench::make_integers;
using workbench::reals_of;

std::string quoted(std::string_view text, bool bytes) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == quote || letter == '\\')
      out += {'\\', letter};
    else if (letter == '\n')
      out += "\\n";
    else if (letter == '\r')
      out += "\\r";
    else if (letter == '\t')
      out += "\\t";
    else if (code < 0x20 || code == 0x7f || (bytes && code > 0x7f))
      out += fmt::format("\\x{:02x}", code);
    else
      out += letter;
  }
  return out + quote;
}

bool read_numbers(TensorElements& out, const ConstantTensor& tensor, std::size_t count) {
  if (is_floating_point(tensor.spec.dtype)) {
    out.reals = reals_of(tensor, count);
    return out.reals.size() == count;
  }
  if (tensor.spec.dtype == DType::uint64) {
    out.large.resize(count);
    if (count > 0) std::memcpy(out.large.data(), tensor.data.data(), count * sizeof(std::uint64_t));
    out.integers.assign(out.large.begin(), out.large.end());
    return true;
  }
  if (!make_integers({}, {}, tensor.spec.dtype)) return false;  // Complex, or packed.
  out.integers = integers_of(tensor, count);
  return out.integers.size() == count;
}

}  // namespace

std::string python_string(std::string_view text) { return quoted(text, false); }
std::string python_bytes(std::string_view bytes) { return "b" + quoted(bytes, true); }

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char scientific[40];
  const auto end = std::to_chars(scientific, scientific + sizeof scientific, value,
                                 std::chars_format::scientific);
  std::string text(scientific, end.ptr);
  const auto at = text.find('e');
  const int exponent = std::stoi(text.substr(at + 1));
  // float.__repr__ is format code 'r': an exponent below -4 and from 16 on (Python/pystrtod.c).
  if (exponent < -4 || exponent >= 16) return text;
  char fixed[400];
  const auto stop = std::to_chars(fixed, fixed + sizeof fixed, value, std::chars_format::fixed);
  text.assign(fixed, stop.ptr);
  return text.find('.') == text.npos ? text + ".0" : text;
}

std::optional<TensorElements> elements_of(const onnx::TensorProto& tensor, std::size_t most) {
  TensorElements out;
  out.element_type = tensor.data_type();
  out.sizes.assign(tensor.dims().begin(), tensor.dims().end());
  if (tensor.data_type() == onnx::TensorProto::STRING) {
    const auto count = std::min(most, static_cast<std::size_t>(tensor.string_data_size()));
    out.strings.assign(tensor.string_data().begin(),
                       tensor.string_data().begin() + static_cast<std::ptrdiff_t>(count));
    return out;
  }
  if (!trace::onnx_dtype(tensor.data_type())) return std::nullopt;
  try {
    const auto constant = trace::constant_tensor(tensor, tensor.name());
    const std::int64_t count = constant->spec.numel();
    if (count > 0 && constant->data.empty()) return std::nullopt;
    const std::size_t wanted = std::min(most, static_cast<std::size_t>(count));
    if (!read_numbers(out, *constant, wanted)) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

std::string element_text(const TensorElements& elements, std::size_t index) {
  if (!elements.strings.empty()) return python_string(elements.strings[index]);
  if (!elements.reals.empty()) return python_float(elements.reals[index]);
  if (!elements.large.empty()) return fmt::format("{}", elements.large[index]);
  const std::int64_t value = elements.integers[index];
  if (elements.element_type == onnx::TensorProto::BOOL) return value != 0 ? "True" : "False";
  return fmt::format("{}", value);
}

namespace {

/// Writes nested lists up to `length` letters.
class ListText {
 public:
  ListText(const TensorElements& elements, std::size_t known, std::size_t length)
      : elements_(elements), known_(known), length_(length) {}

  std::string write() {
    level(0);
    if (out_.size() > length_) out_ = out_.substr(0, length_) + "...";
    return out_;
  }

 private:
  void level(std::size_t depth) {
    if (out_.size() > length_) return;
    if (depth == elements_.sizes.size()) {
      out_ += next_ < known_ ? element_text(elements_, next_) : "?";
      ++next_;
      return;
    }
    out_ += '[';
    for (std::int64_t i = 0; i < elements_.sizes[depth] && out_.size() <= length_; ++i) {
      if (i > 0) out_ += ", ";
      level(depth + 1);
    }
    out_ += ']';
  }

  const TensorElements& elements_;
  std::size_t known_, length_, next_ = 0;
  std::string out_;
};

}  // namespace

std::string python_list_start(const onnx::TensorProto& tensor, std::size_t length) {
  const auto elements = elements_of(tensor, length + 1);
  if (!elements) return "?";
  const std::size_t known =
      std::max({elements->integers.size(), elements->reals.size(), elements->strings.size()});
  return ListText(*elements, known, length).write();
}

}  // namespace symprof::report
