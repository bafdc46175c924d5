// The work of a kernel for the time formulas: sizes and bytes, no tensors.
//
// Public header.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <variant>

namespace symprof::profile {

/// Kinds of kernels that one formula with one set of coefficients describes.
enum class TimeClass : std::uint8_t {
  product_16bit,  ///< Tensor cores, bf16 and fp16.
  product_tf32,
  product_8bit,
  product_fp32,  ///< Without tensor cores.
  product_fp64,
  attention_flash,    ///< PyTorch's flash-attention 2.
  attention_newer,    ///< cuDNN's and those written for compute capability 9 and later.
  attention_fp32,     ///< The memory-efficient kernel in fp32.
  convolution_16bit,  ///< Tensor cores.
  convolution_tf32,
  convolution_fp32,
  elementwise,
  copy,        ///< Between layouts.
  batch_norm,  ///< A row is a channel's elements in all images, processed by one thread block.
  batch_norm_native,  ///< PyTorch's own for channels last, where blocks share channels.
  pooling,
  layer_norm,  ///< And other row norms.
  softmax,
  reduction,
  gather,  ///< And scatter: rows in data-dependent order.
  sort,
  optimizer,        ///< Many tensors in one kernel.
  transfer,         ///< Between host and device memory.
  depthwise,        ///< Convolutions of PyTorch's own kernels.
  depthwise_cudnn,  ///< And of cuDNN's, with channels last.
  recurrent_16bit,  ///< Steps of a recurrent layer of cuDNN, on tensor cores.
  recurrent_tf32,
  batch_norm_rows,     ///< PyTorch's own for contiguous channels.
  random,              ///< Random numbers on a CPU, sequential. On a GPU they are element-wise.
  function,            ///< Compute-bound functions on a CPU. On a GPU they are element-wise.
  attention_backward,  ///< On a CPU, with other loops than forward. On a GPU: a factor of
                       ///< forward.
  rms_norm,            ///< Forward, vectorized rows.
};
constexpr int time_classes = static_cast<int>(TimeClass::rms_norm) + 1;

/// The name in device files and tables: "product_16bit".
std::string_view name(TimeClass time_class);

/// How many operands of a product are contiguous along k: both (a linear layer), one (its input
/// gradient) or none (its weight gradient).
enum class ProductLayout : std::uint8_t { along, mixed, across };

/// The library kernel that computes a product, as far as rules predict it.
enum class ProductKernel : std::uint8_t {
  usual,     ///< One of the formula's tiles.
  few_rows,  ///< One row or column, or few rows with a bias (cuBLAS's gemv and gemmSN).
  large_k,   ///< cuBLAS's sgemm_largek, which small linear layers with a bias take.
};

/// `batch` products [m, k] · [k, n].
struct ProductWork {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t operand_bytes = 2, result_bytes = 2;  ///< Of one number.
  /// Number of operands [k, n] of the same size used in turn, which decides if L2 still holds one
  /// when it is used again.
  std::int64_t weight_sets = 1;
  /// Row alignment of all matrices in bytes; more than 16 makes no difference.
  std::int64_t alignment = 16;
  bool shares_right = false;  ///< The whole batch has the same operand [k, n].
  ProductLayout layout = ProductLayout::along;
  ProductKernel kernel = ProductKernel::usual;
  auto operator<=>(const ProductWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct AttentionWork {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, head_dim = 0;
  std::int64_t number_bytes = 2;
  bool causal = false, backward = false;
  auto operator<=>(const AttentionWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

enum class ConvolutionPass : std::uint8_t { forward, data_gradient, weight_gradient };

/// A convolution in at most three dimensions; `in` and `out` are counts of positions.
struct ConvolutionWork {
  ConvolutionPass pass = ConvolutionPass::forward;
  std::int64_t batch = 1, in_channels = 0, out_channels = 0, groups = 1;
  std::int64_t in = 0, out = 0, window = 1;  ///< `window`: positions of the filter.
  std::int64_t number_bytes = 4;
  bool is_winograd = false;  ///< 3 x 3 without stride and dilation.
  bool channels_last = false;
  auto operator<=>(const ConvolutionWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// `steps` sequential products [batch, hidden] · [hidden, gates * hidden], each with its gates.
struct RecurrentWork {
  std::int64_t steps = 0, batch = 1, hidden = 0, gates = 4;
  std::int64_t number_bytes = 4;
  bool backward = false;
  auto operator<=>(const RecurrentWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Reads and writes, each number once, with little arithmetic.
struct StreamWork {
  std::int64_t bytes = 0;
  auto operator<=>(const StreamWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Row-wise reads and writes: `length` elements make one result or one row of results.
struct RowWork {
  std::int64_t rows = 0, length = 0, bytes = 0;
  auto operator<=>(const RowWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Each represents functions of about the same time. Files store the numeric values: append new
/// ones.
enum class Function : std::uint8_t {
  sqrt,  ///< And its reciprocal.
  exp,
  log,
  sin,  ///< And cosine.
  atan,
  tanh,
  sigmoid,  ///< And silu.
  erf,
  gelu,
  gelu_tanh,  ///< By tanh.
  gelu_backward,
  gelu_tanh_backward,
  silu_backward,
  mish,
  mish_backward,
  elu,       ///< And expm1.
  softplus,  ///< And log_sigmoid.
  pow,       ///< With an exponent per element.
  remainder,
  lgamma,  ///< And other scalar code.
  where,
  masked_fill,
  compare,
};

/// A function of each of `numbers` numbers.
struct FunctionWork {
  Function function = Function::exp;
  std::int64_t numbers = 0, bytes = 0;
  auto operator<=>(const FunctionWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

using Work = std::variant<StreamWork, RowWork, ProductWork, AttentionWork, ConvolutionWork,
                          RecurrentWork, FunctionWork>;

struct Kernel {
  TimeClass time_class = TimeClass::elementwise;
  Work work;
  int launches = 1;                                 ///< Number of kernels that share the work.
  auto operator<=>(const Kernel&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The resource that limits a kernel.
enum class Limit : std::uint8_t {
  nothing,     ///< There is no kernel.
  arithmetic,  ///< Tensor cores, or the units of the dtype.
  cache,       ///< L2.
  memory,      ///< DRAM.
  launch,      ///< Launch-bound.
  transfer,    ///< The link to the host.
  host,        ///< Host-bound: the device waits for the host. Only for steps.
};
/// "tensor cores" is "arithmetic" in all tables: "memory", "launch".
std::string_view name(Limit limit);

/// The source of an estimate's coefficients.
enum class TimeBasis : std::uint8_t {
  calibrated,  ///< Fitted on measurements of this device.
  data_sheet,  ///< The device's data sheet, with coefficients of other devices.
};

}  // namespace symprof::profile
