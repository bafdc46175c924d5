// Operators that torchao leaves whole in an export (torchao/quantization/quant_primitives.py). Each
// is the calls that its Python makes.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>
#include <utility>
#include <vector>

#include "meta/kernels/package_operators.h"

namespace symprof::kernels {
namespace torchao {
namespace {

using at::ScalarType;
using at::Tensor;
using std::optional;
using Sizes = std::vector<int64_t>;
using Limit = optional<at::Scalar>;

struct Limits {
  double least, most;
};

/// Given ones, else those of an integer type (uint1 … uint7 are stored as uint8).
Limits limits_of(ScalarType dtype, const Limit& least, const Limit& most) {
  const bool is_signed = dtype == at::kChar || dtype == at::kShort || dtype == at::kInt;
  const int bits = dtype == at::kInt ? 32 : dtype == at::kShort ? 16 : 8;
  const double values = static_cast<double>(int64_t{1} << bits);
  return {.least = least       ? least->toDouble()
                   : is_signed ? -values / 2
                               : 0,
          .most = most ? most->toDouble() : (is_signed ? values / 2 : values) - 1};
}

/// A tensor of blocks, with each block's dimensions apart, and the dimensions within a block.
struct Blocks {
  Sizes sizes;   ///< To view the tensor with.
  Sizes within;  ///< Dimensions of `sizes`.

  Sizes numbers() const {
    Sizes made = sizes;
    for (const int64_t axis : within) made[static_cast<std::size_t>(axis)] = 1;
    return made;
  }
};

/// _get_reduction_params.
Blocks blocks_of(const Tensor& x, at::IntArrayRef block) {
  TORCH_CHECK(static_cast<int64_t>(block.size()) == x.dim(), "found a block [", block,
              "] for sizes [", x.sizes(), "], wanted a number for each dimension");
  Blocks blocks;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const int64_t size = x.sizes()[i];
    TORCH_CHECK(block[i] > 0 && size % block[i] == 0, "found a block of ", block[i],
                " in a dimension of ", size, ", wanted one that divides it");
    const bool is_split = block[i] != size && block[i] > 1;
    if (is_split) blocks.sizes.push_back(size / block[i]);
    if (block[i] != 1) blocks.within.push_back(static_cast<int64_t>(blocks.sizes.size()));
    blocks.sizes.push_back(is_split ? block[i] : size);
  }
  return blocks;
}

Tensor quantize(const Tensor& input, at::IntArrayRef block, const Tensor& scale,
                const optional<Tensor>& zero_point, ScalarType dtype, const Limit& least,
                const Limit& most) {
  const at::NoGradGuard without_gradients;
  const Blocks blocks = blocks_of(input, block);
  const Limits limits = limits_of(dtype, least, most);
  const Tensor inverse = at::reciprocal(scale.view(blocks.numbers()));
  Tensor moved = at::round(at::mul(input.view(blocks.sizes), inverse));
  if (zero_point && zero_point->defined() && zero_point->numel() > 0)
    moved = at::add(moved, zero_point->view(blocks.numbers()));
  return at::clamp(moved, limits.least, limits.most).view(input.sizes()).to(dtype);
}

Tensor dequantize(const Tensor& input, at::IntArrayRef block, const Tensor& scale,
                  const optional<Tensor>& zero_point, ScalarType, const Limit&, const Limit&,
                  ScalarType made) {
  const Blocks blocks = blocks_of(input, block);
  Tensor moved = input.view(blocks.sizes).to(made, /*non_blocking=*/false, /*copy=*/true);
  if (zero_point && zero_point->defined())
    moved = at::sub(moved, zero_point->view(blocks.numbers()).to(made));
  return at::mul(moved, scale.view(blocks.numbers())).view(input.sizes()).to(made);
}

/// The scale and the zero point of each block, by its extremes.
std::pair<Tensor, Tensor> chosen(const Tensor& below, const Tensor& above, c10::string_view mapping,
                                 const Limits& limits, double epsilon) {
  const double range = limits.most - limits.least;
  if (mapping == "ASYMMETRIC") {
    const Tensor scale = at::clamp_min(at::div(at::sub(above, below), range), epsilon);
    const Tensor zero = at::rsub(at::round(at::div(below, scale)), limits.least);
    return {scale, at::clamp(zero, limits.least, limits.most)};
  }
  TORCH_CHECK(mapping == "SYMMETRIC" || mapping == "SYMMETRIC_NO_CLIPPING_ERR",
              "found the mapping ", mapping,
              ", wanted SYMMETRIC, SYMMETRIC_NO_CLIPPING_ERR or ASYMMETRIC");
  Tensor scale;
  if (mapping == "SYMMETRIC") {
    scale = at::div(at::maximum(at::neg(below), above), range / 2);
  } else {
    const Tensor first = at::div(below, limits.least), last = at::div(above, limits.most);
    scale = at::where(at::gt(first, last), first, last);
  }
  const Tensor zero = at::full_like(scale, (limits.most + limits.least + 1) / 2);
  return {at::clamp_min(scale, epsilon), zero};
}

std::tuple<Tensor, Tensor> choose(const optional<Tensor>& given, c10::string_view mapping,
                                  at::IntArrayRef block, ScalarType dtype, const Limit& least,
                                  const Limit& most, optional<double> epsilon,
                                  optional<ScalarType> scale_dtype,
                                  optional<ScalarType> zero_point_dtype, bool keepdim) {
  TORCH_CHECK(given && given->defined(), "choose_qparams_affine: found no input");
  const Blocks blocks = blocks_of(*given, block);
  const Tensor input = given->view(blocks.sizes);
  const Tensor low = at::amin(input, blocks.within, keepdim);
  const Tensor high = at::amax(input, blocks.within, keepdim);
  constexpr double smallest = 1e-30;  // Its value changes no shape and no cost.
  auto [scale, zero] =
      chosen(at::minimum(low, at::zeros_like(low)), at::maximum(high, at::zeros_like(high)),
             mapping, limits_of(dtype, least, most), epsilon.value_or(smallest));
  if (keepdim) {
    Sizes sizes = given->sizes().vec();
    for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] /= block[i];
    scale = scale.reshape(sizes), zero = zero.reshape(sizes);
  }
  const ScalarType otherwise = mapping == "ASYMMETRIC" ? at::kInt : zero.scalar_type();
  return {scale.to(scale_dtype.value_or(given->scalar_type())),
          zero.to(zero_point_dtype.value_or(otherwise))};
}

}  // namespace
}  // namespace torchao

std::vector<torch::Library> define_torchao() {
  using namespace torchao;
  std::vector<torch::Library> libraries;
  libraries.push_back(library_of("torchao", torch::Library::FRAGMENT));
  for (const char* schema : {
           "quantize_affine(Tensor input, int[] block_size, Tensor scale, Tensor? zero_point, "
           "ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor",
           "dequantize_affine(Tensor input, int[] block_size, Tensor scale, Tensor? zero_point, "
           "ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, "
           "ScalarType output_dtype=float) -> Tensor",
           "choose_qparams_affine(Tensor? input, str mapping_type, int[] block_size, "
           "ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, "
           "float? eps=None, ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, "
           "bool keepdim=False) -> (Tensor, Tensor)",
       })
    libraries.back().def(schema);
  libraries.push_back(
      library_of("torchao", torch::Library::IMPL, c10::DispatchKey::CompositeImplicitAutograd));
  libraries.back().impl("quantize_affine", &quantize);
  libraries.back().impl("dequantize_affine", &dequantize);
  libraries.back().impl("choose_qparams_affine", &choose);
  return libraries;
}

}  // namespace symprof::kernels
