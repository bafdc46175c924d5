// Fused attention: a thread block processes 64 or 128 queries of one head over all keys that they
// attend to. Products run on tensor cores, concurrently with exponentials (16 per clock and
// multiprocessor). Source: Dao, FlashAttention-2 (arXiv 2307.08691), section 3.
#include <algorithm>
#include <cmath>

#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

constexpr Coefficient attention_rows[] = {
    {"floor", 5, 0.5, 60},
    {"arithmetic", 0.8, 0.2, 1},     // of the peak
    {"exponentials", 0.5, 0.02, 4},  // share of their time not hidden by products
    {"begin", 1.5, 0.02, 20},        // us for each block of queries
    {"tail", 0.5, 0.02, 4},          // lost share of a partial wave
    {"memory", 0.7, 0.3, 1},         // of the bandwidth of DRAM
    // Time of the backward pass in forward passes. FlashAttention-2's charts give 2.8 to 3.3 on
    // H100; the products alone 2.5.
    {"backward", 2.94, 1.5, 6},
};
struct AttentionAt {
  enum : std::uint8_t { floor_us, arithmetic, exponentials, begin, tail, memory, backward };
};

constexpr double exponentials_per_clock = 16;

/// Mean number of keys per query on a CPU, which processes keys in blocks of 512; a causal query
/// block skips whole key blocks after it. Query blocks grow with the number of queries
/// (ATen/native/cpu/FlashAttentionKernel.cpp).
double keys_seen_on_cpu(const AttentionWork& a) {
  constexpr double keys_of_block = 512;
  const double queries = static_cast<double>(a.queries), keys = static_cast<double>(a.keys);
  if (!a.causal) return keys;
  const double block = a.queries >= 768 ? 256 : a.queries >= 192 ? 64 : 32;
  const double blocks = pieces(queries, block);
  double seen = 0;
  for (double i = 0; i < blocks; ++i)
    seen += std::min(pieces((i + 1) * block, keys_of_block) * keys_of_block, keys);
  return seen / blocks;
}

/// The time with one query block size.
double with_block(const AttentionWork& a, const Gpu& gpu, Coefficients c, TimeClass time_class,
                  double block) {
  const double queries = static_cast<double>(a.queries), keys = static_cast<double>(a.keys);
  const double items = static_cast<double>(a.batch * a.heads) * pieces(queries, block);
  const double all_keys = pieces(keys, 64) * 64;
  // Query i attends to the keys up to its own position, aligned at the end.
  const double halved = a.causal ? std::max((2 * keys - queries + block) / 2, block / 2) : all_keys;
  const double seen = gpu.is_cpu ? keys_seen_on_cpu(a) : halved;
  const double rate = gpu.rate(time_class) / gpu.multiprocessors * c[AttentionAt::arithmetic];
  const double depth = pieces(static_cast<double>(a.head_dim), 32) * 32;
  const double small = block < 128 ? 1.25 : 1;
  const double per_key =
      block * (4 * depth / rate * small +
               c[AttentionAt::exponentials] / (exponentials_per_clock * gpu.clock));
  const double longest = all_keys * per_key + c[AttentionAt::begin];
  const double total = items * (seen * per_key + c[AttentionAt::begin]) / gpu.multiprocessors;
  const double waves = items / gpu.multiprocessors;
  const double lost = waves < 1 ? 0 : (std::ceil(waves) - waves) * std::min(longest, total);
  return std::max(total, longest) + c[AttentionAt::tail] * lost;
}

}  // namespace

const std::span<const Coefficient> attention_coefficients = attention_rows;

KernelTime attention_time(const Work& work, const Gpu& gpu, Coefficients c, TimeClass time_class) {
  const auto& a = std::get<AttentionWork>(work);
  double products =
      std::min(with_block(a, gpu, c, time_class, 64), with_block(a, gpu, c, time_class, 128));
  const double bytes = static_cast<double>(a.number_bytes * a.batch * a.head_dim) *
                       static_cast<double>(2 * a.heads * a.queries + 2 * a.kv_heads * a.keys);
  double moves = bytes / (gpu.memory * c[AttentionAt::memory]);
  if (a.backward) products *= c[AttentionAt::backward], moves *= 2;
  const double us = c[AttentionAt::floor_us] + std::hypot(products, moves);
  if (c[AttentionAt::floor_us] > us / 2) return {us, Limit::launch};
  return {us, products > moves ? Limit::arithmetic : Limit::memory};
}

std::vector<double> attention_sizes(const Work& work) {
  const auto& a = std::get<AttentionWork>(work);
  const auto log = [](std::int64_t size) { return std::log2(static_cast<double>(size)); };
  return {log(a.batch * a.heads), log(a.queries), log(a.keys), log(a.head_dim),
          log(a.heads) - log(a.kv_heads)};
}

}  // namespace symprof::profile
