// Formats values as Python and numpy do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor_spec.h"

namespace onnx {
class TensorProto;
}

namespace symprof::report {

/// repr() of a str, and of bytes (with its b).
std::string python_string(std::string_view text);
std::string python_bytes(std::string_view bytes);
/// repr() of a float: the shortest text that parses as `value`.
std::string python_float(double value);

/// Elements of a tensor, of one of three kinds.
struct TensorElements {
  std::int32_t element_type = 0;  ///< onnx::TensorProto::DataType.
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> integers;  ///< Integers and booleans.
  std::vector<std::uint64_t> large;    ///< uint64 only.
  std::vector<double> reals;           ///< Floating point.
  std::vector<std::string> strings;
};

/// The first `most` elements of `tensor`, or all if it has fewer. Empty if the data is missing
/// (external, or skipped) or has the wrong length, and for complex and packed types.
std::optional<TensorElements> elements_of(const onnx::TensorProto& tensor, std::size_t most);

/// One element in the format of a Python list: "1", "0.5", "True", "'text'".
std::string element_text(const TensorElements& elements, std::size_t index);

/// str(array.tolist()) cut to `length` letters, with "..." if longer.
std::string python_list_start(const onnx::TensorProto& tensor, std::size_t length);

/// numpy's repr() of the flat array: "array([1., 2.], dtype=float32)". Empty if the elements are
/// unknown.
std::string numpy_repr(const onnx::TensorProto& tensor);

}  // namespace symprof::report
