// Numbers of less than a byte, as files pack them.
#pragma once

#include <cstddef>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof {

/// `count` numbers of `dtype` (less than a byte each), the first in the lowest bits of the first
/// byte (onnx.proto, TensorProto), as one byte each: signed integers with their sign, others as
/// their bits. `packed` holds at least packed_bytes(dtype, count) bytes.
std::vector<std::byte> unpack_bits(const std::vector<std::byte>& packed, DType dtype,
                                   std::int64_t count);

}  // namespace symprof
