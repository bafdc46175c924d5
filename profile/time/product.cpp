// Matrix products: tiles processed in waves by the multiprocessors, bounded by L2 and memory. The
// library chooses the tile and the split of k: mostly the fastest that cuBLAS has, or nearly so.
// The formula, whose coefficients differ little over four GPU generations, was found on public
// measurements (ai-dynamo/aiconfigurator, systems/data/*/gemm).
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

constexpr Coefficient product_rows[] = {
    {"floor", 2.0, 0.5, 60},           // us, before and after the work
    {"arithmetic", 0.85, 0.3, 1},      // of the peak, while tiles run
    {"shared", 32, 4, 200},            // bytes of operands per clock and multiprocessor
    {"memory", 0.82, 0.4, 1},          // of the bandwidth of DRAM
    {"cache", 40, 5, 300},             // bytes of L2 per clock and multiprocessor
    {"wave", 1.0, 0.05, 10},           // us to begin a wave of tiles
    {"join", 2.7, 0.5, 20},            // us to sum the parts of a split k
    {"throttling", 0.07, 0.005, 0.6},  // slowdown of a long product by power throttling
    {"residence", 0.5, 0.1, 1.5},      // share of L2 that keeps earlier data
    {"together", 0.8, 0.05, 1},        // share of the work that waits for a whole wave
    {"choice", 0.05, 0.005, 0.5},      // slowdown against the fastest tile that is still chosen
};
constexpr double never = 1e-9, at_once = 1e9;
/// For TF32 and 8 bit, whose small products were measured separately on an H200.
constexpr Coefficient tensor_product_rows[] = {
    product_rows[0],
    product_rows[1],
    product_rows[2],
    product_rows[3],
    product_rows[4],
    product_rows[5],
    product_rows[6],
    product_rows[7],
    product_rows[8],
    product_rows[9],
    product_rows[10],
    {"alone", 5, 0.5, 60, never},  // clocks per k, however few blocks
    {"store", 30, 1, 200,
     at_once},  // bytes of results per clock and multiprocessor, in the epilogue
    {"cold", 0.5, 0.01, 5, never},  // us until the first operands come from memory
};
struct ProductAt {
  enum : std::uint8_t {
    floor_us,
    arithmetic,
    shared,
    memory,
    cache,
    wave,
    join,
    throttling,
    residence,
    together,
    choice,
    alone,
    store,
    cold
  };
};

/// A coefficient that only some classes and files have; nullopt if absent, tolerant of a fit's
/// rounding.
std::optional<double> known(Coefficients c, std::size_t at) {
  if (at >= c.size()) return std::nullopt;
  const double ratio = c[at] / tensor_product_rows[at].absent;
  return ratio > 0.5 && ratio < 2 ? std::nullopt : std::optional(c[at]);
}

/// Rows and columns of results per thread block.
constexpr std::array<std::array<double, 2>, 15> tiles = {{{256, 128},
                                                          {128, 256},
                                                          {128, 128},
                                                          {256, 64},
                                                          {64, 256},
                                                          {128, 64},
                                                          {64, 128},
                                                          {64, 64},
                                                          {128, 32},
                                                          {64, 32},
                                                          {32, 64},
                                                          {32, 32},
                                                          {16, 128},
                                                          {16, 64},
                                                          {16, 32}}};
/// Tiles of a kernel for one row or column.
constexpr std::array<std::array<double, 2>, 2> lines = {{{1, 128}, {128, 1}}};
/// Default cuBLAS tiles, chosen even when another tile would be faster.
constexpr std::array<std::array<double, 2>, 3> usual_tiles = {{{256, 128}, {128, 128}, {64, 64}}};
/// Distances between a measured product, whose residual counts the more the nearer it is, and the
/// one to estimate, in octaves of a size: for an octave of time (at most `furthest`), for another
/// layout. Of least leave-one-out error over the rows of all devices in scripts/time/fit.py.
constexpr double octaves_of_time = 4, furthest = 2, octaves_of_layout = 4;
/// The distance per octave of alignment on tensor cores, from the calibration split of an H200's
/// small products in 16 bit and TF32: unaligned bfloat16 products take up to twice as long.
constexpr double octaves_of_alignment = 2;
/// The distance for another library kernel, opposite to that of layouts.
constexpr double octaves_of_kernel = 8;
constexpr std::array<double, 8> splits = {1, 2, 3, 4, 6, 8, 16, 32};
constexpr double shortest_split = 128;  ///< In elements of k.
constexpr double shortest_step = 32;    ///< Step of k in a tile: k is padded to its multiple.
constexpr double least_weight = 1e-4;   ///< Of a candidate, relative to the fastest one's 1.
/// Results of the largest block, which occupies a whole multiprocessor, and the most small blocks
/// that share one.
constexpr double largest_alone = 128 * 128, most_at_once = 8;

bool has_tensor_cores(TimeClass time_class) {
  return time_class != TimeClass::product_fp32 && time_class != TimeClass::product_fp64;
}

double power6(double x) { return x * x * x * x * x * x; }

/// Slowdown of tiles with rows that are not aligned to 16 bytes: cuBLAS uses kernels of earlier
/// GPUs for them (cutlass_75_tensorop, cutlass_80_tensorop). Half precision on an H200: 2 bytes
/// from the large products in one split of the 52 in truth/h200/kernel_record (6.4 to 10.8), 4
/// bytes from BERT's vocabulary in truth/measured, 8 bytes from 1 x 1 convolutions of 14 x 14
/// images in the same split (also cutlass_80).
double slowness(const ProductWork& product) {
  if (product.alignment % 16 == 0) return 1.0;
  return product.alignment % 4 == 0 ? 4.0 : 8.0;
}

/// Slowdown if neither operand is contiguous along k. Hopper's tensor cores read 16-bit operands in
/// both layouts, but TF32 only along k (PTX, wgmma.mma_async: transposes of .f16 and .bf16), so
/// another kernel runs: the 23 such products in the calibration split of truth/h200/kernel_record
/// take 1.3 times as long.
double slowness_across(const ProductWork& product, TimeClass time_class) {
  const bool is_across = product.layout == ProductLayout::across;
  return is_across && time_class == TimeClass::product_tf32 ? 1.3 : 1.0;
}

/// Quantities that do not depend on tile and split.
struct Setting {
  double batch, m, n, k, operand_bytes, per_flop, shared_rate, cache_rate, memory_us, output_bytes;
  double cached_bytes;        ///< Result bytes that pass through L2 besides the operands.
  double store_us, begin_us;  ///< To write the results at the end; before the first tile.
  double alone_us;            ///< Per k, for blocks that run at once.
};

Setting setting_of(const ProductWork& product, const Gpu& gpu, Coefficients c,
                   TimeClass time_class) {
  Setting s{};
  s.batch = static_cast<double>(product.batch);
  s.m = static_cast<double>(product.m), s.n = static_cast<double>(product.n);
  s.k = static_cast<double>(product.k);
  s.operand_bytes = static_cast<double>(product.operand_bytes);
  // Faster units have wider data paths, but less than proportionally: both exponents come from fits
  // of single GPUs from compute capability 8.0 to 12.0.
  const double per_clock = gpu.rate(time_class) / gpu.multiprocessors / gpu.clock;
  const bool is_wide = has_tensor_cores(time_class);
  const double generation = is_wide ? per_clock / 2048 : per_clock / 256;
  const double slower = is_wide && gpu.slows_unaligned
                            ? slowness(product) * slowness_across(product, time_class)
                            : 1.0;
  s.per_flop = slower * gpu.multiprocessors / (gpu.rate(time_class) * c[ProductAt::arithmetic]);
  s.shared_rate = c[ProductAt::shared] * std::pow(generation, 0.65) * gpu.clock;
  // DRAM is never faster than L2.
  s.cache_rate = std::max(gpu.multiprocessors * gpu.clock * c[ProductAt::cache] *
                              (gpu.is_gddr ? 0.25 : std::pow(generation, 0.5)),
                          gpu.memory);
  s.output_bytes = s.batch * s.m * s.n * static_cast<double>(product.result_bytes);
  const double weights = (product.shares_right ? 1 : s.batch) * s.n * s.k * s.operand_bytes;
  const double others = s.batch * s.m * s.k * s.operand_bytes + s.output_bytes;
  const std::optional<double> store = known(c, ProductAt::store);
  s.store_us = store ? s.output_bytes / (gpu.multiprocessors * gpu.clock * *store) : 0.0;
  s.cached_bytes = store ? 0.0 : s.output_bytes;
  s.begin_us = c[ProductAt::floor_us] +
               (product.weight_sets > 1 ? known(c, ProductAt::cold).value_or(0) : 0.0);
  s.alone_us = known(c, ProductAt::alone).value_or(0) / gpu.clock;
  const double footprint = (static_cast<double>(product.weight_sets) * weights + others) /
                           (gpu.l2_bytes * c[ProductAt::residence]);
  const double weights_found = std::clamp(2 - footprint, 0.0, 1.0);
  const double others_missed = std::clamp(footprint - 1, 0.0, 1.0);
  s.memory_us = (weights * (1 - weights_found) + others * others_missed) /
                (gpu.memory * c[ProductAt::memory]);
  return s;
}

struct Candidate {
  double us = INFINITY, tile_us = 0, cache_us = 0, memory_us = 0;
};

/// Concurrent blocks per multiprocessor, which overlap start-up with computation.
double blocks_at_once(double rows, double columns) {
  return std::clamp(largest_alone / (rows * columns), 1.0, most_at_once);
}

/// Has no time if longer than `longest_us`.
Candidate with_tile(const Setting& s, const Gpu& gpu, Coefficients c, double rows, double columns,
                    double split, double longest_us) {
  const double per_k =
      std::max(2 * rows * columns * s.per_flop, s.operand_bytes * (rows + columns) / s.shared_rate);
  const double depth = pieces(s.k / split, shortest_step) * shortest_step;
  const double down = pieces(s.m, rows), across = pieces(s.n, columns);
  const double blocks = s.batch * down * across * split;
  // Blocks that end early make room for the next, especially in persistent kernels.
  const double together = c[ProductAt::together];
  const double rounds = together * pieces(blocks, gpu.multiprocessors) +
                        (1 - together) * std::max(blocks / gpu.multiprocessors, 1.0);
  const double begins = pieces(blocks, gpu.multiprocessors * blocks_at_once(rows, columns));
  const double besides = s.begin_us + s.store_us + begins * c[ProductAt::wave] +
                         (split > 1 ? c[ProductAt::join] : 0.0);
  Candidate one;
  one.tile_us = rounds * per_k * depth + begins * depth * s.alone_us;
  // Tile parts beyond the matrix edges are computed, but not loaded.
  one.cache_us = (s.batch * s.k * (across * s.m + down * s.n) * s.operand_bytes + s.cached_bytes) /
                 s.cache_rate;
  // Parts of a split are fp32, written and read.
  one.memory_us = s.memory_us + (split > 1 ? 8 * split * s.batch * s.m * s.n / s.cache_rate : 0.0);
  if (besides + std::max({one.tile_us, one.cache_us, one.memory_us}) > longest_us) return one;
  one.us = besides +
           std::cbrt(std::sqrt(power6(one.tile_us) + power6(one.cache_us) + power6(one.memory_us)));
  return one;
}

Limit limit_of(const Candidate& best) {
  const double longest = std::max({best.tile_us, best.cache_us, best.memory_us});
  if (2 * longest < best.us) return Limit::launch;
  if (longest == best.tile_us) return Limit::arithmetic;
  return longest == best.cache_us ? Limit::cache : Limit::memory;
}

struct TriedTiles {
  std::array<double, (tiles.size() + lines.size()) * splits.size()> all_us{};
  std::size_t count = 0;
  Candidate best;
};

void try_tile(TriedTiles& found, const Setting& s, const Gpu& gpu, Coefficients c,
              const std::array<double, 2>& tile, double slack) {
  for (const double split : splits) {
    if (split * shortest_split > std::max(s.k, shortest_split)) break;
    const Candidate one = with_tile(s, gpu, c, tile[0], tile[1], split, found.best.us * slack);
    found.all_us[found.count++] = one.us;
    if (one.us < found.best.us) found.best = one;
  }
}

/// Tiles slower than the fastest by the factor `slack` have no time.
TriedTiles tried_tiles(const Setting& s, const Gpu& gpu, Coefficients c, ProductKernel kernel,
                       double slack) {
  TriedTiles found;
  for (const auto& tile : tiles) try_tile(found, s, gpu, c, tile, slack);
  if (kernel == ProductKernel::few_rows && std::min(s.m, s.n) == 1)
    for (const auto& tile : lines) try_tile(found, s, gpu, c, tile, slack);
  return found;
}

/// cuBLAS's sgemm_largek, without its three short helper kernels: k is split in up to five parts.
/// Least squares on the 19 such products in the calibration split of truth/h200/kernel_record.
double large_k_us(const Setting& s) {
  const double parts = std::clamp(pieces(s.k, 8), 1.0, 4.0) + (s.k > 64 ? 1 : 0);
  return 1.51 + 1.44 * parts + 0.0066 * s.k + 2.0e-5 * s.m * s.n;
}

/// The weighted geometric mean of candidates up to `longest_us`; a candidate slower than the
/// fastest by the factor 1 + `choice` weighs about a third.
double chosen_us(std::span<const double> all_us, double fastest, double longest_us, double choice) {
  double sum = 0, weights = 0;
  for (const double us : all_us) {
    if (!(us <= longest_us)) continue;
    const double slower = std::log(us / fastest);
    const double weight = std::exp(-slower / choice);
    sum += weight * slower, weights += weight;
  }
  return weights > 0 ? fastest * std::exp(sum / weights) : fastest;
}

}  // namespace

const std::span<const Coefficient> product_coefficients = product_rows,
                                   tensor_product_coefficients = tensor_product_rows;

KernelTime product_time(const Work& work, const Gpu& gpu, Coefficients c, TimeClass time_class) {
  const auto& product = std::get<ProductWork>(work);
  const Setting s = setting_of(product, gpu, c, time_class);
  if (product.kernel == ProductKernel::large_k) return {large_k_us(s), Limit::launch};
  const double slack = std::pow(least_weight, -c[ProductAt::choice]);
  const TriedTiles tried = tried_tiles(s, gpu, c, product.kernel, slack);
  const Candidate& best = tried.best;
  const double us =
      chosen_us({tried.all_us.data(), tried.count}, best.us, best.us * slack, c[ProductAt::choice]);
  // Clocks fall during long tensor-core runs.
  const double flops = 2 * s.batch * s.m * s.n * s.k;
  const double reached = flops / gpu.rate(time_class) / us;
  const double long_run = std::clamp(std::log(flops / 2e10) / 5, 0.0, 1.0);
  return {us * (1 + c[ProductAt::throttling] * reached * long_run), limit_of(best)};
}

std::vector<double> product_ways(const Work& work, const Gpu& gpu, Coefficients c,
                                 TimeClass time_class) {
  const auto& product = std::get<ProductWork>(work);
  const Setting s = setting_of(product, gpu, c, time_class);
  const double fastest = tried_tiles(s, gpu, c, product.kernel, 1).best.us;
  std::vector<double> ways;
  for (const auto& [rows, columns] : usual_tiles) {
    const double us = with_tile(s, gpu, c, rows, columns, 1, INFINITY).us;
    ways.push_back(octaves_of_time * std::clamp(std::log2(us / fastest), 0.0, furthest));
  }
  ways.push_back(product.kernel == ProductKernel::usual
                     ? octaves_of_layout * static_cast<double>(product.layout)
                     : -octaves_of_kernel * static_cast<double>(product.kernel));
  if (has_tensor_cores(time_class))
    ways.push_back(octaves_of_alignment *
                   std::log2(16.0 / static_cast<double>(std::gcd(product.alignment, 16))));
  return ways;
}

std::vector<double> product_sizes(const Work& work) {
  const auto& product = std::get<ProductWork>(work);
  std::vector<double> sizes;
  for (const std::int64_t size : {product.m, product.n, product.k, product.batch})
    sizes.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(size, 1))));
  return sizes;
}

}  // namespace symprof::profile
