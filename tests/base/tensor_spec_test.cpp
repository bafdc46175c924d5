#include "base/tensor_spec.h"

#include <doctest/doctest.h>

TEST_SUITE("tensor_spec") {
  using namespace symprof;

  TEST_CASE("bytes are elements times element size") {
    const TensorSpec spec{DType::bfloat16, {2, 3, 5}, contiguous_strides({2, 3, 5}), 0};
    CHECK(spec.numel() == 2 * 3 * 5);
    CHECK(spec.bytes() == 2 * 3 * 5 * 2);
    CHECK(spec.strides == std::vector<std::int64_t>{3 * 5, 5, 1});
  }

  TEST_CASE("an empty tensor has no bytes, and a scalar has one element") {
    CHECK(TensorSpec{DType::float32, {4, 0}, {1, 1}, 0}.bytes() == 0);
    CHECK(TensorSpec{DType::float32, {}, {}, 0}.bytes() == 4);
  }

  TEST_CASE("strides saturate at 64 bits") {
    constexpr std::int64_t huge = std::int64_t{1} << 40;
    CHECK(contiguous_strides({0, huge, huge, 3}) ==
          std::vector<std::int64_t>{INT64_MAX, 3 * huge, 3, 1});
  }

  TEST_CASE("sub-byte numbers are packed, and the last byte is padded") {
    const TensorSpec quarter{DType::int4, {3, 5}, {5, 1}, 0};
    CHECK(quarter.bytes() == (3 * 5 * 4 + 7) / 8);
    CHECK(packed_bytes(DType::uint2, 9) == (9 * 2 + 7) / 8);
    CHECK(packed_bytes(DType::float4_e2m1, 0) == 0);
    // A pair is one element of one byte.
    CHECK(packed_bytes(DType::float4_e2m1fn_x2, 15) == 15);
    CHECK(element_bytes(DType::int4) == 1);
  }

  TEST_CASE("dtypes parse by PyTorch's and short names") {
    CHECK(parse_dtype("torch.bfloat16") == DType::bfloat16);
    CHECK(parse_dtype("bf16") == DType::bfloat16);
    CHECK(parse_dtype("int4") == DType::int4);
    CHECK(parse_dtype("float") == DType::float32);
    CHECK_FALSE(parse_dtype("floaty"));
  }
}
