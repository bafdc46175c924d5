// Declarations common to evaluate.cpp and its two operator families.
#pragma once

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "workbench/constants.h"
#include "workbench/optimize/attributes.h"

namespace symprof::workbench::evaluation {

using Sizes = std::vector<std::int64_t>;
using Results = std::optional<std::vector<ConstantPointer>>;

struct Call {
  const onnx::NodeProto& node;
  const std::vector<ConstantPointer>& inputs;
  std::int64_t most_elements;

  const ConstantTensor* input(std::size_t index) const {
    return index < inputs.size() ? inputs[index].get() : nullptr;
  }
  /// Integers of an input, or of the attribute that older opsets use instead.
  Sizes list(std::size_t index, std::string_view attribute) const {
    if (const ConstantTensor* tensor = input(index)) return integers_of(*tensor);
    return integers(node, attribute);
  }
};

inline std::int64_t count_of(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

inline std::int64_t axis_of(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

inline Results one(ConstantPointer constant) {
  if (!constant) return std::nullopt;
  return std::vector<ConstantPointer>{std::move(constant)};
}

/// `source` with other sizes and the same bytes.
inline Results reshaped(const ConstantTensor& source, Sizes sizes) {
  if (count_of(sizes) != source.spec.numel()) return std::nullopt;
  auto out = std::make_shared<ConstantTensor>(source);
  out->spec.strides = contiguous_strides(sizes);
  out->spec.sizes = std::move(sizes);
  return one(out);
}

/// A tensor whose element at each index is the element of `source` at the offset `from` gives.
template <class From>
Results gathered(const ConstantTensor& source, Sizes sizes, std::int64_t most, From from) {
  const std::int64_t count = count_of(sizes);
  if (count < 0 || count > most || element_bits(source.spec.dtype) < 8) return std::nullopt;
  auto out = std::make_shared<ConstantTensor>();
  out->spec.dtype = source.spec.dtype;
  out->spec.strides = contiguous_strides(sizes);
  out->spec.sizes = sizes;
  const auto width = static_cast<std::size_t>(element_bytes(source.spec.dtype));
  out->data.resize(static_cast<std::size_t>(count) * width);
  Sizes index(sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = from(index);
    if (place < 0 || place >= source.spec.numel()) return std::nullopt;
    std::memcpy(out->data.data() + static_cast<std::size_t>(i) * width,
                source.data.data() + static_cast<std::size_t>(place) * width, width);
    for (std::size_t d = sizes.size(); d-- > 0 && ++index[d] == sizes[d];) index[d] = 0;
  }
  return one(out);
}

inline std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

inline Results expanded(const ConstantTensor& source, const Sizes& sizes, std::int64_t most) {
  const Sizes& own = source.spec.sizes;
  const auto target = broadcast(own, sizes);
  if (!target) return std::nullopt;
  const std::size_t shift = target->size() - own.size();
  return gathered(source, *target, most, [&](const Sizes& index) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < own.size(); ++d)
      place += (own[d] == 1 ? 0 : index[d + shift]) * source.spec.strides[d];
    return place;
  });
}

/// The evaluator of an operator family.
using Evaluator = Results (*)(const Call& call);
struct Evaluation {
  std::string_view op;
  std::size_t inputs = 0;  ///< Required inputs.
  Evaluator evaluate = nullptr;
};

/// Finds an operator that moves elements: shapes, slices, gathers; null for others.
const Evaluation* find_move(std::string_view op);
/// The value of a numeric operator; empty if `call` is not one.
Results arithmetic(const Call& call);

}  // namespace symprof::workbench::evaluation
