// The candidate kernels of a sweep, by class.
#include <algorithm>
#include <cmath>

#include "profile/time/formula.h"
#include "profile/time/functions.h"
#include "profile/time/sweep.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t fp32_bytes = 4;
constexpr std::int64_t smallest_stream = 1024;
constexpr std::size_t usual_streams = 64;

using SizeList = std::initializer_list<std::int64_t>;

/// Three sizes per octave: transitions between launch, caches and memory are narrower than one
/// octave. Four times as many for a GPU's element-wise kernels, which have more kinds.
std::vector<Kernel> stream_kernels(TimeClass time_class, const SweepLimits& limits) {
  const double in_octave = time_class == TimeClass::elementwise && !limits.is_cpu ? 12 : 3;
  std::vector<Kernel> kernels;
  kernels.reserve(usual_streams);
  for (int i = 0;; ++i) {
    const auto bytes = static_cast<std::int64_t>(smallest_stream * std::exp2(i / in_octave));
    if (bytes > limits.bytes) return kernels;
    kernels.push_back({time_class, StreamWork{bytes / 4 * 4}});
  }
}

/// Bytes moved per row element in fp32, and the number of launches, as in the time rules
/// (profile/cost/time): forward, and backward if it rereads rows for the gradients. On a GPU, layer
/// norm backward covers only the input gradient; the time of weight and bias gradients depends on
/// the number of columns and is added by the rules.
struct Pass {
  std::int64_t bytes;
  int launches;
};

std::vector<Pass> passes_of(TimeClass time_class, bool is_cpu) {
  switch (time_class) {
    case TimeClass::batch_norm:
    case TimeClass::batch_norm_rows:
      return {{12, 1}, {10, 1}};  // A backward row has the length of both its tensors' rows.
    case TimeClass::layer_norm:
      return {{8, 1}, is_cpu ? Pass{20, 2} : Pass{12, 1}};
    case TimeClass::softmax:
      return {{8, 1}, {24, 2}};
    default:
      return {{fp32_bytes, 1}};
  }
}

/// Rows of reductions and of batch norm: a channel's elements in all images, or a whole matrix.
SizeList lengths_of(TimeClass time_class) {
  static constexpr SizeList long_rows = {512, 2048, 8192, 32768, 131072, 524288},
                            usual = {32, 128, 512, 768, 1024, 3072, 8192, 32768};
  const bool is_long = time_class == TimeClass::batch_norm ||
                       time_class == TimeClass::batch_norm_rows ||
                       time_class == TimeClass::reduction;
  return is_long ? long_rows : usual;
}

/// fp32 rows; on a GPU also 16-bit ones, except for batch norm (cuDNN's does not take bfloat16).
std::vector<Kernel> row_kernels(TimeClass time_class, const SweepLimits& limits) {
  std::vector<Pass> passes = passes_of(time_class, limits.is_cpu);
  if (!limits.is_cpu && time_class != TimeClass::batch_norm)
    for (const auto& [bytes, launches] : passes_of(time_class, false))
      passes.push_back({bytes / 2, launches});
  std::vector<Kernel> kernels;
  for (const Pass& pass : passes)
    for (std::int64_t rows = 1; rows <= (1 << 20); rows *= 4)
      for (const std::int64_t length : lengths_of(time_class))
        if (const std::int64_t bytes = pass.bytes * rows * length; bytes <= limits.bytes)
          kernels.push_back({time_class, RowWork{rows, length, bytes}, pass.launches});
  return kernels;
}

/// A few sizes per function: one core, all cores in cache, memory.
std::vector<Kernel> function_kernels(const SweepLimits& limits) {
  static constexpr SizeList sizes = {1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 23};
  std::vector<Kernel> kernels;
  kernels.reserve(std::size(function_facts) * sizes.size());
  for (const std::int64_t numbers : sizes)
    for (const FunctionFacts& facts : function_facts)
      if (const std::int64_t bytes = facts.bytes * numbers; bytes <= limits.bytes)
        kernels.push_back({TimeClass::function, FunctionWork{facts.function, numbers, bytes}});
  return kernels;
}

std::int64_t number_bytes_of(TimeClass time_class) {
  switch (time_class) {
    case TimeClass::product_8bit:
      return 1;
    case TimeClass::product_16bit:
    case TimeClass::attention_flash:
    case TimeClass::attention_newer:
    case TimeClass::convolution_16bit:
      return 2;
    case TimeClass::product_fp64:
      return 8;
    default:
      return fp32_bytes;
  }
}

/// Kernels of one class that the limits allow.
class Candidates {
 public:
  Candidates(TimeClass time_class, const SweepLimits& limits)
      : time_class_(time_class), number_(number_bytes_of(time_class)), limits_(limits) {}

  void add(ProductWork work) {
    work.layout = swept_layout(work);
    work.operand_bytes = work.result_bytes = number_;
    const std::int64_t numbers = work.m * work.k + work.n * work.k + work.m * work.n;
    add(work, work.batch * numbers,
        2.0 * static_cast<double>(work.batch * work.m * work.n) * static_cast<double>(work.k));
  }
  void add(AttentionWork work) {
    const bool is_own =
        !limits_.is_cpu || work.backward == (time_class_ == TimeClass::attention_backward);
    if (!is_own) return;
    work.number_bytes = number_;
    const std::int64_t rows = work.batch * work.heads * work.queries;
    // Some kernels write the whole attention matrix.
    add(work, rows * (4 * work.head_dim + work.keys),
        4.0 * static_cast<double>(rows * work.head_dim) * static_cast<double>(work.keys));
  }
  void add(ConvolutionWork work) {
    work.number_bytes = number_;
    const std::int64_t channels = work.in_channels / work.groups * work.window;
    add(work, work.batch * (work.in * work.in_channels + work.out * work.out_channels),
        2.0 * static_cast<double>(work.batch * work.out * work.out_channels) *
            static_cast<double>(channels));
  }

  std::vector<Kernel> kernels;

 private:
  void add(const Work& work, std::int64_t numbers, double flops) {
    if (number_ * numbers <= limits_.bytes && flops <= limits_.flops)
      kernels.push_back({time_class_, work});
  }

  TimeClass time_class_;
  std::int64_t number_;
  SweepLimits limits_;
};

void add_products(Candidates& candidates) {
  // A layer's weights come from memory; attention's operands were just written by the previous
  // kernel.
  for (const std::int64_t m : SizeList{1, 8, 32, 128, 512, 2048, 8192})
    for (const std::int64_t n : SizeList{64, 256, 768, 3072, 8192, 32768})
      for (const std::int64_t k : SizeList{64, 256, 768, 3072, 8192})
        candidates.add(ProductWork{.m = m, .n = n, .k = k});
  for (const std::int64_t batch : SizeList{4, 12, 48, 192, 768})
    for (const std::int64_t length : SizeList{49, 128, 197, 512, 1024})
      for (const std::int64_t head_dim : SizeList{32, 64, 128}) {
        candidates.add(ProductWork{.batch = batch, .m = length, .n = length, .k = head_dim});
        if (length == head_dim) continue;
        candidates.add(ProductWork{.batch = batch, .m = length, .n = head_dim, .k = length});
      }
}

void add_attention(Candidates& candidates) {
  for (const bool backward : {false, true})
    for (const bool causal : {false, true})
      for (const std::int64_t head_dim : SizeList{32, 64, 128})
        for (const std::int64_t length : SizeList{49, 128, 197, 512, 1024, 2048, 4096})
          for (const std::int64_t batch : SizeList{1, 4, 16, 64})
            candidates.add(AttentionWork{.batch = batch,
                                         .heads = 12,
                                         .kv_heads = 12,
                                         .queries = length,
                                         .keys = length,
                                         .head_dim = head_dim,
                                         .causal = causal,
                                         .backward = backward});
}

constexpr ConvolutionPass convolution_passes[] = {
    ConvolutionPass::forward, ConvolutionPass::data_gradient, ConvolutionPass::weight_gradient};

/// Adds one shape in all passes. `side`: of the input image; `step`: the stride.
void add_passes(Candidates& candidates, ConvolutionWork work, std::int64_t side,
                std::int64_t step) {
  const std::int64_t out = (side + step - 1) / step;
  work.in = side * side, work.out = out * out;
  work.is_winograd = work.window == 9 && step == 1;
  for (const ConvolutionPass pass : convolution_passes) {
    work.pass = pass;
    candidates.add(work);
  }
}

/// Layers of known networks (ResNet, VGG, ResNeXt, ViT's patches), with several batch sizes.
void add_convolutions(Candidates& candidates) {
  struct Layer {
    std::int64_t in_channels, out_channels, groups, window;
  };
  constexpr Layer layers[] = {
      {3, 64, 1, 49},    {3, 32, 1, 9},     {32, 32, 1, 9},    {64, 64, 1, 9},    {64, 256, 1, 1},
      {256, 64, 1, 1},   {128, 128, 1, 9},  {128, 512, 1, 1},  {512, 128, 1, 1},  {256, 256, 1, 9},
      {256, 1024, 1, 1}, {1024, 256, 1, 1}, {512, 512, 1, 9},  {512, 2048, 1, 1}, {2048, 512, 1, 1},
      {24, 144, 1, 1},   {160, 960, 1, 1},  {128, 128, 32, 9}, {256, 256, 32, 9}, {96, 96, 1, 25},
      {384, 1536, 1, 1},
  };
  for (const std::int64_t batch : SizeList{1, 2, 4, 8, 32, 128})
    for (const Layer& layer : layers)
      for (const std::int64_t side : SizeList{7, 14, 28, 56, 112, 224})
        for (const std::int64_t step : SizeList{1, 2})
          add_passes(candidates,
                     {.batch = batch,
                      .in_channels = layer.in_channels,
                      .out_channels = layer.out_channels,
                      .groups = layer.groups,
                      .window = layer.window},
                     side, step);
  constexpr std::int64_t image = 224;
  for (const std::int64_t batch : SizeList{1, 4, 16, 64})
    for (const std::int64_t side : SizeList{14, 16, 32})  // Patches that do not overlap.
      for (const ConvolutionPass pass : convolution_passes)
        candidates.add(ConvolutionWork{.pass = pass,
                                       .batch = batch,
                                       .in_channels = 3,
                                       .out_channels = 768,
                                       .in = image * image,
                                       .out = (image / side) * (image / side),
                                       .window = side * side});
}

void add_depthwise(Candidates& candidates, bool channels_last) {
  for (const std::int64_t batch : SizeList{1, 4, 16, 64})
    for (const std::int64_t channels : SizeList{32, 96, 192, 384, 768})
      for (const std::int64_t side : SizeList{7, 14, 28, 56, 112})
        for (const std::int64_t window : SizeList{9, 25, 49})
          for (const std::int64_t step : SizeList{1, 2})
            add_passes(candidates,
                       {.batch = batch,
                        .in_channels = channels,
                        .out_channels = channels,
                        .groups = channels,
                        .window = window,
                        .channels_last = channels_last},
                       side, step);
}

double flops_of(const Kernel& kernel) {
  if (const auto* p = std::get_if<ProductWork>(&kernel.work))
    return 2.0 * static_cast<double>(p->batch * p->m * p->n) * static_cast<double>(p->k);
  if (const auto* c = std::get_if<ConvolutionWork>(&kernel.work)) {
    const std::int64_t of_each = c->in_channels / c->groups * c->window;
    return 2.0 * static_cast<double>(c->batch * c->out * c->out_channels) *
           static_cast<double>(of_each);
  }
  return 0;
}

}  // namespace

std::uint32_t drawn_by(std::int64_t size) {
  constexpr std::uint32_t golden_ratio = 2654435769;  // Of 2^32: Knuth's multiplicative hash.
  return (static_cast<std::uint32_t>(size) * golden_ratio) >> 16;
}

ProductLayout swept_layout(const ProductWork& work) {
  if (work.batch > 1) return ProductLayout::mixed;
  return static_cast<ProductLayout>(drawn_by(work.m + work.n * 3 + work.k * 5) % 3);
}

std::vector<Kernel> sweep_kernels(TimeClass time_class, const SweepLimits& limits) {
  auto* const formula = formula_of(time_class).time;
  if (formula == recurrent_time) return {};
  if (formula == stream_time) return stream_kernels(time_class, limits);
  if (formula == row_time) return row_kernels(time_class, limits);
  if (formula == function_time) return function_kernels(limits);
  Candidates candidates(time_class, limits);
  if (formula == product_time) add_products(candidates);
  if (formula == attention_time) add_attention(candidates);
  if (formula == convolution_time || formula == tensor_convolution_time)
    add_convolutions(candidates);
  if (formula == depthwise_time || formula == library_depthwise_time)
    add_depthwise(candidates, formula == library_depthwise_time);
  return std::move(candidates.kernels);
}

std::int64_t number_bytes_of(const Kernel& kernel) {
  const auto* rows = std::get_if<RowWork>(&kernel.work);
  if (rows == nullptr) return number_bytes_of(kernel.time_class);
  const std::int64_t bytes = rows->bytes / (rows->rows * rows->length);
  const bool is_16bit =
      std::ranges::any_of(passes_of(kernel.time_class, false), [&](const Pass& pass) {
        return pass.launches == kernel.launches && pass.bytes / 2 == bytes;
      });
  return is_16bit ? fp32_bytes / 2 : fp32_bytes;
}

std::vector<Kernel> take_long_kernels(std::vector<Kernel>& kernels, double flops) {
  const auto long_ones = std::stable_partition(
      kernels.begin(), kernels.end(), [&](const Kernel& one) { return flops_of(one) < flops; });
  std::vector<Kernel> taken(long_ones, kernels.end());
  kernels.erase(long_ones, kernels.end());
  return taken;
}

}  // namespace symprof::profile
