// Memory-bound kernels: element-wise, copies, norms, softmax, reductions. Data still in L2 from the
// previous kernel is read at L2's rate. On a CPU functions may be compute-bound.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "profile/time/formula.h"
#include "profile/time/functions.h"

namespace symprof::profile {
namespace {

constexpr Coefficient stream_rows[] = {
    {"floor", 2.5, 0.5, 60},        // us
    {"memory", 0.85, 0.3, 1},       // of the bandwidth of DRAM
    {"cache", 3, 1, 12},            // bandwidth of L2, relative to DRAM
    {"residence", 0.8, 0.05, 1.5},  // share of L2 that keeps earlier data
    {"fill", 0.5, 0.01, 6},         // us until all multiprocessors have enough requests in flight
};
constexpr Coefficient row_rows[] = {
    {"floor", 2.5, 0.5, 60},   {"memory", 0.8, 0.2, 1},
    {"cache", 3, 1, 12},       {"residence", 0.8, 0.05, 1.5},
    {"fill", 0.5, 0.01, 6},    {"row", 0.3, 0.005, 10},  // us for the rows that run at once
    {"number", 8, 0.3, 400},                             // numbers of a row per clock
    {"passes", 0.3, 0.005, 3},                           // reread share of a long row
};
struct StreamAt {
  enum : std::uint8_t { floor_us, memory, cache, residence, fill, row, number, passes };
};

/// Cycles of a core per element and function, after the coefficients of a stream.
constexpr auto function_rows = [] {
  constexpr double range = 20;
  std::array<Coefficient, std::size(stream_rows) + std::size(function_facts)> rows{};
  std::ranges::copy(stream_rows, rows.begin());
  for (std::size_t i = 0; i < std::size(function_facts); ++i) {
    const FunctionFacts& facts = function_facts[i];
    rows[std::size(stream_rows) + i] = {facts.name, facts.cycles, facts.cycles / range,
                                        facts.cycles * range};
  }
  return rows;
}();
static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(function_facts); ++i)
        if (static_cast<std::size_t>(function_facts[i].function) != i) return false;
      return true;
    }(),
    "the table has all functions in their order");

/// A loop of at most this many elements has one thread (at::internal::GRAIN_SIZE,
/// ATen/TensorIterator.h).
constexpr double numbers_of_thread = 32768;

/// Rows processed concurrently on a multiprocessor.
constexpr double rows_at_once = 16;
/// A longer row is not kept on chip for its second read.
constexpr double kept_numbers = 4096;

struct Moves {
  double us = 0, cache_us = 0, memory_us = 0;
};

Moves moves(double bytes, const Gpu& gpu, Coefficients c) {
  const double found = std::clamp(2 - bytes / (gpu.l2_bytes * c[StreamAt::residence]), 0.0, 1.0);
  Moves result;
  result.memory_us = bytes * (1 - found) / (gpu.memory * c[StreamAt::memory]);
  result.cache_us = bytes * found / (gpu.memory * c[StreamAt::cache]);
  // A small kernel ends before the whole device is busy.
  const double us = result.memory_us + result.cache_us;
  result.us = us + c[StreamAt::fill] * us / (us + c[StreamAt::fill]);
  return result;
}

}  // namespace

const std::span<const Coefficient> stream_coefficients = stream_rows;
const std::span<const Coefficient> row_coefficients = row_rows;
const std::span<const Coefficient> function_coefficients = function_rows;

KernelTime stream_time(const Work& work, const Gpu& gpu, Coefficients c, TimeClass time_class) {
  const double bytes = static_cast<double>(std::get<StreamWork>(work).bytes);
  if (time_class == TimeClass::transfer) {
    const double us = gpu.link > 0 ? bytes / (gpu.link * c[StreamAt::memory]) : NAN;
    return {c[StreamAt::floor_us] + us,
            us < c[StreamAt::floor_us] ? Limit::launch : Limit::transfer};
  }
  const Moves moved = moves(bytes, gpu, c);
  const double us = c[StreamAt::floor_us] + moved.us;
  if (c[StreamAt::floor_us] > us / 2) return {us, Limit::launch};
  return {us, moved.memory_us > moved.cache_us ? Limit::memory : Limit::cache};
}

KernelTime row_time(const Work& work, const Gpu& gpu, Coefficients c, TimeClass) {
  const auto& r = std::get<RowWork>(work);
  const double rows = static_cast<double>(r.rows), length = static_cast<double>(r.length);
  const double bytes = static_cast<double>(r.bytes);
  const double again = length > kept_numbers ? c[StreamAt::passes] : 0;
  const Moves moved = moves(bytes * (1 + again), gpu, c);
  const double turns = pieces(rows, gpu.multiprocessors * rows_at_once);
  const double work_us = turns * (c[StreamAt::row] + length / (c[StreamAt::number] * gpu.clock));
  const double us =
      c[StreamAt::floor_us] + std::sqrt(std::sqrt(std::pow(moved.us, 4) + std::pow(work_us, 4)));
  if (c[StreamAt::floor_us] > us / 2) return {us, Limit::launch};
  if (work_us > moved.us) return {us, Limit::arithmetic};
  return {us, moved.memory_us > moved.cache_us ? Limit::memory : Limit::cache};
}

KernelTime function_time(const Work& work, const Gpu& gpu, Coefficients c, TimeClass) {
  const auto& f = std::get<FunctionWork>(work);
  const double numbers = static_cast<double>(f.numbers);
  const double threads = std::clamp(pieces(numbers, numbers_of_thread), 1.0, gpu.multiprocessors);
  const double cycles = c[std::size(stream_rows) + static_cast<std::size_t>(f.function)];
  const double compute_us = numbers * cycles / (gpu.clock * threads);
  const Moves moved = moves(static_cast<double>(f.bytes), gpu, c);
  const double us = c[StreamAt::floor_us] + std::hypot(moved.us, compute_us);
  if (c[StreamAt::floor_us] > us / 2) return {us, Limit::launch};
  if (compute_us > moved.us) return {us, Limit::arithmetic};
  return {us, moved.memory_us > moved.cache_us ? Limit::memory : Limit::cache};
}

std::vector<double> stream_sizes(const Work& work) {
  return {
      std::log2(static_cast<double>(std::max<std::int64_t>(std::get<StreamWork>(work).bytes, 1)))};
}

std::vector<double> function_sizes(const Work& work) {
  const auto& f = std::get<FunctionWork>(work);
  return {std::log2(static_cast<double>(std::max<std::int64_t>(f.numbers, 1))),
          static_cast<double>(f.function)};
}

std::vector<double> row_sizes(const Work& work) {
  const auto& r = std::get<RowWork>(work);
  const auto log = [](std::int64_t size) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(size, 1)));
  };
  return {log(r.rows), log(r.length), log(r.bytes) - log(r.rows) - log(r.length)};
}

}  // namespace symprof::profile
