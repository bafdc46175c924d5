// `TensorMeta` of the export schema: dtype codes and sizes that may be symbolic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/tensor_spec.h"
#include "trace/exported/json.h"
#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// `ScalarType` of torch/_export/serde/schema.py, which is not c10's. Throws Error for an unknown
/// code or an unsupported dtype.
DType dtype_of(std::int64_t code, const Place& place);

struct TensorMeta {
  /// Sizes, strides and offset; the example's if symbolic, -1 if it has none.
  TensorSpec spec;
  /// Empty when every size is a number.
  std::vector<Dimension> dimensions;
  /// Some stride or the offset is symbolic, or some size is.
  bool symbolic = false;
  bool requires_grad = false;
  std::string_view device;  ///< "cpu", "cuda", "meta"; a view into the record.
};

/// Reads a `TensorMeta`. Throws Error for a layout that is not strided, a size below zero, and more
/// bytes than 64 bits count.
TensorMeta tensor_meta(Json meta, const Place& place);

/// `SymInt` of the schema: a number, or an expression with the example's value.
Dimension dimension(Json sym_int, const Place& place);

}  // namespace symprof::trace::exported
