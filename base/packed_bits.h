// Sub-byte numbers as packed in files.
#pragma once

#include <cstddef>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof {

/// Unpacks `count` sub-byte numbers of `dtype`, the first in the lowest bits of the first byte
/// (onnx.proto, TensorProto), into one byte each: signed integers sign-extended, others as their
/// bits. `packed` holds at least packed_bytes(dtype, count) bytes.
std::vector<std::byte> unpack_bits(const std::vector<std::byte>& packed, DType dtype,
                                   std::int64_t count);

}  // namespace symprof
