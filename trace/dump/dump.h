// Inputs and outputs of calls stored in one ONNX file: the format of onnx-diagnostic's
// steal_forward (onnx_diagnostic/helpers/mini_onnx_builder.py, 0.9.3). Each tensor is an
// initializer "t_NAME" that an Identity makes an output NAME; NAME is the path of the tensor in a
// Python value, parts joined by "___".
//
// Public header.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace::dump {

enum class Kind : std::uint8_t {
  none,     ///< Python's None.
  tensor,   ///< torch's.
  array,    ///< numpy's, and every dtype that torch cannot convert from numpy.
  integer,  ///< One number of int64.
  real,     ///< One of float64.
  boolean,  ///< One bool.
  list,
  tuple,
  dictionary,
  cache,  ///< transformers' DynamicCache or StaticCache: keys and values of attention.
};

/// A Python value. Members not used by its kind are empty.
struct Value {
  Kind kind = Kind::none;
  /// Of tensors, arrays and numbers; null for an array of strings. Without data if the file has a
  /// random generator instead.
  std::shared_ptr<const ConstantTensor> tensor;
  std::vector<std::string> strings;        ///< Of an array of strings, row by row …
  std::vector<std::int64_t> string_sizes;  ///< … and its sizes; none for a single string.
  std::string label;                       ///< The tensor's name in the graph; may be empty.
  std::string class_name;                  ///< Of a cache.
  std::vector<std::string> keys;           ///< Of a dictionary or cache, one for each item.
  std::vector<Value> items;                ///< Of containers.

  bool is_container() const { return kind >= Kind::list; }
  bool is_text() const { return kind == Kind::array && !tensor; }
};

/// The part of a call in an entry; `other`: a value stored besides calls.
enum class Side : std::uint8_t { input, output, weights, other };

struct Entry {
  std::string name;  ///< Of the module or node: "model.decoder"; the key of another entry.
  std::int64_t iteration = 0;  ///< Call number per module, from 0.
  Side side = Side::other;
  Value value;  ///< Inputs: a tuple of the positional tuple and the keyword arguments.
};

/// An entry omitted because it exceeds the limit.
struct LeftOut {
  std::string name;
  std::int64_t iteration = 0;
  Side side = Side::output;
  std::int64_t bytes = 0;
};

struct Dump {
  std::vector<Entry> entries;  ///< In the order of events.
  std::vector<LeftOut> left_out;
};

/// Bytes of all tensors in a value.
std::int64_t bytes_of(const Value& value);

/// Calls `visit(path, value)` for each leaf, None included, in order. Parts of a path are positions
/// and keys, joined by '.'; empty for a value that is a leaf itself.
template <class Visit>
void for_each_leaf(const Value& value, const Visit& visit, const std::string& path = {}) {
  if (!value.is_container()) return visit(path, value);
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string part = i < value.keys.size() ? value.keys[i] : std::to_string(i);
    for_each_leaf(value.items[i], visit, path.empty() ? part : fmt::format("{}.{}", path, part));
  }
}

/// "I", "O", "W"; empty for others.
std::string_view letter_of(Side side);

/// "('model.decoder', 0, 'I')", as Python prints the key; "extra" for other entries.
std::string key_text(const Entry& entry);

/// A value as onnx-diagnostic's string_type prints it with shapes: "((T1s2x30x16,),{})", T for
/// torch and A for numpy, the number of the ONNX type, the sizes.
std::string text_of(const Value& value);

/// Builds a Value from a program's value.
Value tensor_value(std::shared_ptr<const ConstantTensor> tensor, std::string label = {});
Value integer_value(std::int64_t number);
Value real_value(double number);
Value boolean_value(bool truth);
Value text_value(std::string text);
Value container_value(Kind kind, std::vector<Value> items = {}, std::vector<std::string> keys = {});

/// Reads a dump, with external data beside it. Throws Error: not ONNX, truncated, not a dump, sizes
/// that do not match the data, missing data.
Dump read_dump(const std::string& path);
/// The same of bytes in memory; external data lies beside `path`.
Dump parse_dump(std::string_view bytes, const std::string& path);

/// The files of a dump. `data` is empty up to 2 GiB; beyond, it is for the file `location` beside
/// the dump, which the model then refers to.
struct Written {
  std::string model;
  std::string data;
};

/// The largest dump in one file: a protobuf message has less than 2 GiB.
constexpr std::int64_t most_inline_bytes = (std::int64_t{1} << 31) - (std::int64_t{1} << 27);

/// Serializes a dump. Beyond `most_inline` bytes, tensors of at least 1,024 bytes are in
/// Written::data. Keys are changed where they would end a part of a name: one of three underscores,
/// or of two leading ones, is removed, and trailing ones are removed. Throws Error for a dtype
/// without an ONNX type.
Written write_dump(const Dump& dump, const std::string& location,
                   std::int64_t most_inline = most_inline_bytes);

}  // namespace symprof::trace::dump
