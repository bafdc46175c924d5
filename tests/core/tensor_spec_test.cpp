#include "meta/tensor_spec.h"

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

  TEST_CASE("dtypes parse by PyTorch's and short names") {
    CHECK(parse_dtype("torch.bfloat16") == DType::bfloat16);
    CHECK(parse_dtype("bf16") == DType::bfloat16);
    CHECK(parse_dtype("float") == DType::float32);
    CHECK_FALSE(parse_dtype("floaty"));
  }
}
