// Convolutions. Without tensor cores, the fastest of four algorithms: implicit GEMM, a GEMM of
// materialized columns, and Winograd's F(2x2, 3x3) and F(4x4, 3x3) (Lavin and Gray, arXiv
// 1509.09308). With tensor cores, an implicit GEMM on channels-last data, to and from which other
// layouts are transposed, except for 1x1 windows.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

constexpr Coefficient convolution_rows[] = {
    {"floor", 25, 0.5, 400},
    {"arithmetic", 0.75, 0.2, 1},  // of the peak: implicit GEMM
    {"memory", 0.7, 0.2, 1},       // of the bandwidth of DRAM
    {"begin", 5, 0.1, 60},         // us for each wave of tiles
    {"tail", 0.3, 0.01, 1},        // lost share of a partial wave
    {"winograd", 0.65, 0.2, 1},    // of the peak: F(2x2, 3x3)
    {"transforms", 1, 0.2, 6},     // bytes of Winograd's transforms, in their minimum
    {"columns", 0.9, 0.2, 1},  // of the peak: products on materialized operands, including F(4x4,
                               // 3x3)
    {"kernel", 20, 0.5, 200},  // us for a kernel besides the product
};
struct ConvolutionAt {
  enum : std::uint8_t {
    floor_us,
    arithmetic,
    memory,
    begin,
    tail,
    winograd,
    transforms,
    columns,
    kernel
  };
};

constexpr std::array<std::array<double, 2>, 7> conv_tiles = {
    {{128, 128}, {128, 64}, {64, 128}, {64, 64}, {128, 32}, {32, 128}, {32, 32}}};
constexpr std::array<double, 5> conv_splits = {1, 2, 4, 8, 16};

/// The GEMM of a pass: `groups` times [m, k] · [k, n].
struct Sizes {
  double groups, m, n, k, bytes, numbers_in, numbers_out, weights;
};

Sizes sizes_of(const ConvolutionWork& c) {
  Sizes s{};
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  s.groups = number(c.groups);
  const double in_channels = number(c.in_channels) / s.groups;
  const double out_channels = number(c.out_channels) / s.groups, window = number(c.window);
  const double in = number(c.batch * c.in), out = number(c.batch * c.out);
  if (c.pass == ConvolutionPass::forward) {
    s.m = out, s.n = out_channels, s.k = in_channels * window;
  } else if (c.pass == ConvolutionPass::data_gradient) {
    s.m = in, s.n = in_channels, s.k = out_channels * window * out / in;
  } else {
    s.m = out_channels, s.n = in_channels * window, s.k = out;
  }
  s.numbers_in = in * number(c.in_channels), s.numbers_out = out * number(c.out_channels);
  s.weights = number(c.out_channels) * in_channels * window;
  s.bytes = number(c.number_bytes) * (s.numbers_in + s.numbers_out + s.weights);
  return s;
}

/// Products on CUDA cores, at `rate` FLOPs per microsecond of one multiprocessor.
double gemm_us(double batch, double m, double n, double k, double rate, const Gpu& gpu,
               Coefficients c) {
  double best = INFINITY;
  for (const auto& [rows, wide] : conv_tiles) {
    const double small = std::min(1.0, std::pow(rows * wide / (128 * 64), 0.25));
    for (const double split : conv_splits) {
      const double depth = pieces(k / split, 8) * 8;
      const double full = batch * pieces(m, rows) * pieces(n, wide) * split / gpu.multiprocessors;
      const double waves = std::max(full, 1.0) +
                           c[ConvolutionAt::tail] * (std::ceil(full) - full) * std::min(full, 1.0);
      const double us =
          waves * (c[ConvolutionAt::begin] + depth * 2 * rows * wide / (rate * small)) +
          (split > 1 ? c[ConvolutionAt::kernel] / 4 : 0.0);
      best = std::min(best, us);
    }
  }
  return best;
}

/// Few channels per group: computed directly, without a GEMM.
bool is_direct(const ConvolutionWork& c) { return c.in_channels / c.groups < 4 && c.groups > 1; }

double direct_us(const Sizes& s, const ConvolutionWork& c, const Gpu& gpu, double bandwidth) {
  // On CUDA cores: 3 to 7 TFLOP/s of an H200's 60, from cuDNN's half-precision kernels in the
  // calibration split of truth/h200/kernel_record.
  constexpr double of_the_peak = 0.1;
  const std::int64_t met = c.in_channels / c.groups * c.window;  // Inputs per output element.
  const double flops = 2 * s.numbers_out * static_cast<double>(met);
  return std::max(s.bytes / bandwidth,
                  flops / (gpu.rate(TimeClass::convolution_fp32) * of_the_peak));
}

/// Winograd's two forms; the larger one keeps its transforms in memory.
double winograd_us(const Sizes& s, const ConvolutionWork& c, const Gpu& gpu, Coefficients f,
                   double rate, double bandwidth) {
  const double side = std::sqrt(static_cast<double>(c.out));
  const double images = static_cast<double>(c.batch);
  const double of_two = images * pieces(side, 2) * pieces(side, 2);
  const double of_four = images * pieces(side, 4) * pieces(side, 4);
  const double channels = s.weights / static_cast<double>(c.window);  // in x out
  const double rows = static_cast<double>(c.in_channels + c.out_channels);
  const double number = static_cast<double>(c.number_bytes);
  const double depth = static_cast<double>(c.in_channels),
               wide = static_cast<double>(c.out_channels);
  const double fused = gemm_us(16, of_two, wide, depth, rate * f[ConvolutionAt::winograd], gpu, f) +
                       f[ConvolutionAt::kernel] +
                       f[ConvolutionAt::transforms] * number * 25 * channels / bandwidth;
  const double apart = gemm_us(36, of_four, wide, depth, rate * f[ConvolutionAt::columns], gpu, f) +
                       3 * f[ConvolutionAt::kernel] +
                       f[ConvolutionAt::transforms] * number *
                           (72 * of_four * rows + 81 * channels + s.numbers_in + s.numbers_out) /
                           bandwidth;
  return std::min(fused, apart);
}

Limit limit_of(double us, double floor, double memory_us) {
  if (floor > us / 2) return Limit::launch;
  return memory_us > us / 2 ? Limit::memory : Limit::arithmetic;
}

constexpr Coefficient tensor_rows[] = {
    {"floor", 4, 0.5, 400},  // The first nine are those of matrix products (product.cpp).
    {"arithmetic", 0.85, 0.3, 1},     {"shared", 32, 4, 200},
    {"memory", 0.82, 0.4, 1},         {"cache", 40, 5, 300},
    {"wave", 1.0, 0.05, 10},          {"join", 2.7, 0.5, 20},
    {"throttling", 0.07, 0.005, 0.6}, {"residence", 0.5, 0.1, 1.5},
    {"windows", 0.65, 0.1, 1},    // speed relative to a product without a gathered operand
    {"transposes", 1.0, 0.1, 6},  // bytes moved to change layouts, in their minimum
};
constexpr std::size_t windows = 9, transposes = 10, of_products = 9;
/// The last two coefficients of products: cuDNN's kernels were fitted with the fastest tile, in
/// whole waves.
constexpr double whole_waves = 1, fastest_tile = 0.005;

/// A product on tensor cores with a convolution's coefficients.
KernelTime product_of(const ProductWork& product, const Gpu& gpu, Coefficients f,
                      TimeClass time_class) {
  std::array<double, of_products + 2> coefficients{};
  std::ranges::copy(f.first(of_products), coefficients.begin());
  coefficients[of_products] = whole_waves, coefficients[of_products + 1] = fastest_tile;
  return product_time(product, gpu, coefficients, time_class);
}

/// True for a 1x1 window on row-major images whose planes are GEMM operands without a copy, because
/// they are aligned enough for a kernel (cuDNN's kernel names in truth/h200/kernel_record).
bool is_product_of_planes(const ConvolutionWork& c) {
  const std::int64_t aligned = c.number_bytes < 4 ? 8 : 16;
  return c.window == 1 && c.groups == 1 && c.in == c.out && !c.channels_last &&
         c.in * c.number_bytes % aligned == 0;
}

ProductWork product_of_planes(const ConvolutionWork& c) {
  ProductWork product{.operand_bytes = c.number_bytes, .result_bytes = c.number_bytes};
  product.alignment = std::gcd(std::int64_t{16}, c.in * c.number_bytes);
  if (c.pass == ConvolutionPass::weight_gradient) {
    product.m = c.out_channels, product.n = c.in_channels, product.k = c.batch * c.in;
    return product;
  }
  product.batch = c.batch, product.n = c.in;
  product.m = c.out_channels, product.k = c.in_channels;
  if (c.pass == ConvolutionPass::data_gradient) std::swap(product.m, product.k);
  return product;
}

}  // namespace

const std::span<const Coefficient> convolution_coefficients = convolution_rows;
const std::span<const Coefficient> tensor_convolution_coefficients = tensor_rows;

KernelTime convolution_time(const Work& work, const Gpu& gpu, Coefficients f,
                            TimeClass time_class) {
  const auto& c = std::get<ConvolutionWork>(work);
  const Sizes s = sizes_of(c);
  const double bandwidth = gpu.memory * f[ConvolutionAt::memory], memory_us = s.bytes / bandwidth;
  const double rate = gpu.rate(time_class) / gpu.multiprocessors;
  if (is_direct(c)) {
    const double us = f[ConvolutionAt::floor_us] + direct_us(s, c, gpu, bandwidth);
    return {us, limit_of(us, f[ConvolutionAt::floor_us], memory_us)};
  }
  const double number = static_cast<double>(c.number_bytes);
  const double written = 2 * number * s.groups * s.m * s.k / bandwidth;
  double us = gemm_us(s.groups, s.m, s.n, s.k, rate * f[ConvolutionAt::arithmetic], gpu, f) +
              f[ConvolutionAt::kernel] / 2;
  us = std::min(us, f[ConvolutionAt::kernel] + written +
                        gemm_us(s.groups, s.m, s.n, s.k, rate * f[ConvolutionAt::columns], gpu, f));
  if (c.is_winograd && c.groups == 1 && c.pass != ConvolutionPass::weight_gradient)
    us = std::min(us, winograd_us(s, c, gpu, f, rate, bandwidth));
  us = f[ConvolutionAt::floor_us] + std::max(us, memory_us);
  return {us, limit_of(us, f[ConvolutionAt::floor_us], memory_us)};
}

KernelTime tensor_convolution_time(const Work& work, const Gpu& gpu, Coefficients f,
                                   TimeClass time_class) {
  const auto& c = std::get<ConvolutionWork>(work);
  const Sizes s = sizes_of(c);
  if (is_direct(c)) {
    const double bandwidth = gpu.memory * f[3];
    const double us = f[ConvolutionAt::floor_us] + direct_us(s, c, gpu, bandwidth);
    return {us, limit_of(us, f[ConvolutionAt::floor_us], s.bytes / bandwidth)};
  }
  const double memory_us = s.bytes / (gpu.memory * f[3]);
  if (is_product_of_planes(c)) {
    KernelTime time = product_of(product_of_planes(c), gpu, f, time_class);
    time.us = std::max(time.us, f[ConvolutionAt::floor_us] + memory_us);
    return time;
  }
  const auto whole = [](double size) { return static_cast<std::int64_t>(std::ceil(size)); };
  const ProductWork product{c.groups,       whole(s.m),     whole(s.n), whole(s.k),
                            c.number_bytes, c.number_bytes, 1};
  KernelTime time = product_of(product, gpu, f, time_class);
  // The gathered operand is in memory once, not once per window position.
  time.us = f[ConvolutionAt::floor_us] +
            std::max((time.us - f[ConvolutionAt::floor_us]) / f[windows], memory_us);
  if (!c.channels_last) {
    const double moved = 2 * static_cast<double>(c.number_bytes) * (s.numbers_in + s.numbers_out);
    time.us += f[transposes] * moved / (gpu.memory * f[3]);
  }
  return time;
}

std::vector<double> convolution_sizes(const Work& work) {
  const auto& c = std::get<ConvolutionWork>(work);
  const auto log = [](std::int64_t size) { return std::log2(static_cast<double>(size)); };
  return {log(c.batch),
          log(c.in_channels),
          log(c.out_channels),
          log(c.out) / 2,
          log(c.window),
          log(c.groups),
          4.0 * static_cast<double>(c.pass)};
}

}  // namespace symprof::profile
