// Matrices with 2:4 sparsity, packed for CUTLASS or cuSPARSELt
// (native/sparse/cuda/SparseSemiStructured{Tile.cu,Apply.cu,ApplyDense.cu,Ops.cu,Linear.cu},
// cuSPARSELtOps.cpp).
#include <ATen/ATen.h>
#include <torch/library.h>

#include <tuple>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace semi_structured {
namespace {

using at::Scalar;
using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

// A warp packs 32 x 64 elements, each thread 8 x 8 (SparseSemiStructuredPack.h).
constexpr int64_t warp_rows = 32, warp_columns = 64, thread_side = 8, bytes_of_masks = 8;

int64_t divide_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }
int64_t round_up(int64_t value, int64_t multiple) { return divide_up(value, multiple) * multiple; }

void check_half_matrix(const Tensor& input, const char* op) {
  TORCH_CHECK(input.dim() == 2, op, ": found ", input.dim(), " dimensions, wanted a matrix");
  TORCH_CHECK(input.scalar_type() == at::kHalf || input.scalar_type() == at::kBFloat16, op,
              ": found ", input.scalar_type(), ", wanted float16 or bfloat16");
}

Tensor packed_values(int64_t rows, int64_t columns, const Tensor& like) {
  return fresh({round_up(rows, warp_rows), divide_up(round_up(columns, warp_columns), 2)}, like);
}

/// MetadataCutlass: the values, and one bit per element in the hardware's order.
Two packed_for_cutlass(int64_t rows, int64_t columns, const Tensor& like) {
  const int64_t x = round_up(rows, warp_rows), y = round_up(columns, warp_columns);
  const Tensor places = fresh({x * y / 16}, like, at::kShort).view({y / 32, x, 2});
  return {packed_values(rows, columns, like), places.permute({1, 2, 0})};
}

/// MetadataCuSparseLt: values and metadata in one block.
Two packed_for_cusparselt(int64_t rows, int64_t columns, const Tensor& like) {
  TORCH_CHECK(rows % 128 == 0 && columns % 128 == 0, "_sparse_semi_structured_tile: found [", rows,
              ", ", columns, "], wanted multiples of 128");
  const int64_t values = rows * divide_up(columns, 2), places = rows * columns / 16;
  const Tensor block = fresh({values + places}, like);
  return {block, block.slice(0, values).view({rows / 128, columns / 32, 256})};
}

Five tile(const Tensor& input, c10::string_view, bool for_cutlass) {
  check_half_matrix(input, "_sparse_semi_structured_tile");
  const int64_t rows = input.size(0), columns = input.size(1);
  const auto packed = for_cutlass ? packed_for_cutlass : packed_for_cusparselt;
  const auto [values, places] = packed(rows, columns, input);
  const auto [transposed_values, transposed_places] = packed(columns, rows, input);
  const Tensor masks =
      fresh({divide_up(rows, warp_rows) * (warp_rows / thread_side),
             divide_up(columns, warp_columns) * (warp_columns / thread_side), bytes_of_masks},
            input, at::kByte);
  return {values, places, transposed_values, transposed_places, masks};
}

Two apply(const Tensor& input, const Tensor&) {
  check_half_matrix(input, "_sparse_semi_structured_apply");
  const int64_t rows = input.size(0), columns = input.size(1);
  return {packed_values(rows, columns, input), packed_values(columns, rows, input)};
}

Tensor apply_dense(const Tensor& input, const Tensor&) {
  check_half_matrix(input, "_sparse_semi_structured_apply_dense");
  return contiguous_like(input);
}

/// Metadata: a 16-bit number per 16 elements; for 1-byte elements a 32-bit number per 32 elements.
Two compressed(const Tensor& dense) {
  TORCH_CHECK(dense.dim() == 2, "_to_sparse_semi_structured: found ", dense.dim(),
              " dimensions, wanted a matrix");
  const bool of_bytes = dense.element_size() == 1;
  const int64_t rows = dense.size(0), columns = dense.size(1);
  const int64_t elements = of_bytes ? 32 : dense.element_size() == 2 ? 16 : 8;
  return {fresh({rows, divide_up(columns, 2)}, dense),
          fresh({rows, divide_up(columns, elements)}, dense, of_bytes ? at::kInt : at::kShort)};
}

void check_depth(const Tensor& packed, int64_t depth, const char* op) {
  TORCH_CHECK(packed.dim() == 2 && packed.size(1) * 2 == depth, op, ": found packed values [",
              packed.sizes(), "], wanted half of ", depth, " columns");
}

Tensor product(const Tensor& packed, const Tensor&, const Tensor& dense,
               optional<at::ScalarType> dtype) {
  TORCH_CHECK(dense.dim() == 2, "_sparse_semi_structured_mm: wanted a dense matrix");
  check_depth(packed, dense.size(0), "_sparse_semi_structured_mm");
  return fresh({packed.size(0), dense.size(1)}, dense, dtype);
}

Tensor product_and_bias(const Tensor&, const Tensor& packed, const Tensor& places,
                        const Tensor& dense, const Scalar&, const Scalar&,
                        optional<at::ScalarType> dtype) {
  return product(packed, places, dense, dtype);
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor&, const optional<Tensor>&,
              optional<c10::string_view>, optional<at::ScalarType> dtype) {
  TORCH_CHECK(input.dim() == 2, "_sparse_semi_structured_linear: wanted a matrix of inputs");
  check_depth(weight, input.size(1), "_sparse_semi_structured_linear");
  return fresh({weight.size(0), input.size(0)}, input, dtype).t();
}

/// Half of the elements and their positions: 9/16 of the size, 10/16 for 1-byte elements.
Tensor compressed_for_cusparselt(const Tensor& dense) {
  TORCH_CHECK(dense.dim() == 2, "_cslt_compress: found ", dense.dim(),
              " dimensions, wanted a matrix");
  const int64_t parts = dense.element_size() == 1 ? 10 : 9;
  return fresh({dense.size(0), dense.size(1) * parts / 16}, dense);
}

int64_t first_algorithm(const Tensor&, const Tensor&, const optional<Tensor>&,
                        const optional<Tensor>&, optional<at::ScalarType>, bool) {
  return 0;
}

}  // namespace
}  // namespace semi_structured

void register_semi_structured(torch::Library& library) {
  library.impl("_sparse_semi_structured_tile", &semi_structured::tile);
  library.impl("_sparse_semi_structured_apply", &semi_structured::apply);
  library.impl("_sparse_semi_structured_apply_dense", &semi_structured::apply_dense);
  library.impl("_sparse_semi_structured_mm", &semi_structured::product);
  library.impl("_sparse_semi_structured_addmm", &semi_structured::product_and_bias);
  library.impl("_sparse_semi_structured_linear", &semi_structured::linear);
  library.impl("_to_sparse_semi_structured", &semi_structured::compressed);
  library.impl("_cslt_compress", &semi_structured::compressed_for_cusparselt);
  library.impl("_cslt_sparse_mm_search", &semi_structured::first_algorithm);
}

}  // namespace symprof::kernels
