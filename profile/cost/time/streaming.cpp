// Families of memory-bound kernels: each operator is one kernel, or as many as its row says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "profile/cost/memory_format.h"
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

using enum TimeClass;

/// The host waits for the number of results.
LaunchEstimate finds_and_waits(const Call&, const Cost& cost, const DeviceSpec&) {
  return waiting(moved(cost, sort, 2, 6));
}

LaunchEstimate reads_one(const Call&, const Cost& cost, const DeviceSpec&) {
  return waiting(moved(cost, elementwise));
}

/// Casts from fp32 to 16 bit have a kernel that moves vectors (bfloat16_copy_kernel_cuda and
/// float16_copy_kernel_cuda, ATen/native/cuda/Copy.cu); casts to fp32 have none.
bool casts_vectors(const TensorSpec& in, const TensorSpec& out) {
  const bool to_16bit = out.dtype == DType::bfloat16 || out.dtype == DType::float16;
  return in.dtype == DType::float32 && to_16bit && in.strides == out.strides;
}

/// Copies between host and device memory use the link.
LaunchEstimate copies_or_transfers(const Call& call, const Cost& cost, const DeviceSpec& device) {
  if (cost.transfer_bytes > 0) return Launches{{{transfer, StreamWork{cost.transfer_bytes}}}};
  LaunchEstimate copied = moved(cost, elementwise);
  const TensorSpec *in = call.input(0), *out = call.output(0);
  if (in == nullptr || out == nullptr || casts_vectors(*in, *out)) return copied;
  return at_least(std::move(copied), bytes_one_by_one(call, *out, device));
}

/// A dimension of so few numbers is in the cache lines that a warp reads anyway: images of three
/// channels are copied to channels last faster than others.
bool has_few_across(const TensorSpec& in, const TensorSpec& out) {
  constexpr std::int64_t few = 4;
  for (std::size_t i = 0; i < out.sizes.size(); ++i)
    if (out.sizes[i] > 1 && (out.strides[i] == 1 || in.strides[i] == 1) && out.sizes[i] <= few)
      return true;
  return false;
}

/// A transposing copy reads and writes in different orders.
LaunchEstimate copies_layouts(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec *in = call.input(0), *out = call.output(0);
  const bool same_order = !in || !out || in->strides == out->strides || in->strides.empty();
  if (cost.transfer_bytes > 0 || same_order || keeps_rows(*in, *out))
    return copies_or_transfers(call, cost, device);
  const double faster = clocks_of(device, "transposing_copy.few_across_speedup");
  const std::int64_t bytes = bytes_across(*out, device);
  const bool is_fast = !device.is_cpu && faster > 0 && has_few_across(*in, *out);
  return Launches{
      {{copy, StreamWork{is_fast ? std::llround(static_cast<double>(bytes) / faster) : bytes}}}};
}

/// Contiguous inputs are copied as vectors (CatArrayBatchedCopy_vectorized in
/// ATen/native/cuda/Shape.cu), others element by element.
LaunchEstimate concatenates(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec* out = call.output(0);
  if (device.is_cpu || out == nullptr) return moved(cost, copy);
  bool in_order = true;
  for (std::size_t i = 0; i < call.input_count(); ++i)
    if (const TensorSpec* part = call.input(i)) in_order = in_order && is_row_major(*part);
  LaunchEstimate joined = moved(cost, elementwise);
  if (in_order) return joined;
  return at_least(std::move(joined),
                  bytes_at_rate(device, numbers(*out), "cat.one_by_one_per_clock"));
}

/// The rate at which fused optimizers compute, and at which foreach takes the turns of its blocks,
/// on top of the time of the bytes.
std::string_view rate_of_optimizer(std::string_view op) {
  if (op.starts_with("aten::_fused_adam")) return "optimizer.fused_adam_per_clock";
  return op.starts_with("aten::_fused_sgd") ? "optimizer.fused_sgd_per_clock"
                                            : "optimizer.foreach_per_clock";
}

/// A foreach kernel holds at most so many tensors (PyTorch 2.13's limits by the number of lists) or
/// 2,240 blocks of 65,536 elements (ATen/native/cuda/MultiTensorApply.cuh).
LaunchEstimate over_lists(const Call& call, const Cost& cost, const DeviceSpec& device) {
  constexpr std::int64_t tensors_by_lists[] = {770, 770, 448, 336, 252};
  constexpr std::int64_t blocks = 2240, block = 65536;
  const CallRecord& record = call.record();
  std::int64_t tensors = 0, all_numbers = 0, all_blocks = 0, lists = 0, last = none;
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    if (record.input_positions[i] != last) ++lists, last = record.input_positions[i];
    if (record.input_positions[i] != 0) continue;
    const TensorSpec* spec = call.spec(record.inputs[i]);
    if (spec == nullptr) continue;
    ++tensors, all_numbers += numbers(*spec), all_blocks += (numbers(*spec) + block - 1) / block;
  }
  const std::int64_t limit = tensors_by_lists[std::min<std::int64_t>(lists, 4)];
  const std::int64_t launches = std::max(
      {(tensors + limit - 1) / limit, (all_blocks + blocks - 1) / blocks, std::int64_t{1}});
  LaunchEstimate moving = moved(cost, optimizer, 1, static_cast<int>(launches));
  if (moving && !moving->kernels.empty())
    std::get<StreamWork>(moving->kernels[0].work).bytes +=
        bytes_at_rate(device, all_numbers, rate_of_optimizer(call.op()));
  return moving;
}

/// Rows of multiples of 16 bytes have a block each (vectorized_gather_kernel in
/// ATen/native/cuda/IndexKernelUtils.cu), of which a GPU begins one after the other. Other rows are
/// taken number by number. `indices`: the argument.
template <int indices>
LaunchEstimate gathers_rows(const Call& call, const Cost& cost, const DeviceSpec& device) {
  constexpr std::int64_t vector_bytes = 16;
  LaunchEstimate launches = moved(cost, gather);
  const TensorSpec *places = call.input_at(indices), *out = call.output(0);
  const bool is_whole = call.input_count() == 2 && (indices == 1 || call.integer(1, 0, 0) == 0);
  if (!launches || launches->kernels.empty() || !places || !out || !is_whole || device.is_cpu)
    return launches;
  const std::int64_t rows = numbers(*places);
  const std::int64_t row_bytes = numbers(*out) / rows * element_bytes(out->dtype);
  const std::int64_t least =
      row_bytes % vector_bytes == 0
          ? bytes_of_clocks(device, clocks_of(device, "gather.row") * static_cast<double>(rows))
          : bytes_one_by_one(*out, device);
  return at_least(std::move(launches), least);
}

/// Gradients of rows that were gathered (ATen/native/cuda/Embedding.cu): up to 3,072 are added one
/// after the other by a block for each 32 columns (embedding_backward_feature_kernel); more are
/// sorted by their index, in eight passes, and summed in two kernels, number by number whatever the
/// type. All that is on top of the bytes.
LaunchEstimate scatters_rows(const Call& call, const Cost& cost, const DeviceSpec& device) {
  constexpr std::int64_t most_in_turn = 3072, columns_of_block = 32;
  const TensorSpec *gradient = call.input_at(0), *indices = call.input_at(1);
  const std::int64_t rows = indices != nullptr ? numbers(*indices) : 0;
  const bool sorts = rows > most_in_turn;
  LaunchEstimate launches = moved(cost, gather, 1, sorts ? 15 : 2);
  if (!launches || launches->kernels.empty() || gradient == nullptr || rows == 0 || device.is_cpu)
    return launches;
  const std::int64_t width = numbers(*gradient) / rows;
  const double waves = std::max(
      static_cast<double>(width) / static_cast<double>(columns_of_block * device.multiprocessors),
      1.0);
  auto& bytes = std::get<StreamWork>(launches->kernels[0].work).bytes;
  const auto turns = static_cast<double>(rows);
  if (sorts)
    bytes +=
        bytes_of_clocks(device, clocks_of(device, "embedding_backward.sort") +
                                    clocks_of(device, "embedding_backward.sorted_row") * turns) +
        bytes_at_rate(device, rows * width, "embedding_backward.summed_per_clock");
  else
    bytes += bytes_of_clocks(device, clocks_of(device, "embedding_backward.row") * waves * turns);
  return launches;
}

/// index_put_ with accumulate: values are sorted by index, and values of one index are added one
/// after the other (indexing_backward_kernel in ATen/native/cuda/Indexing.cu). How many values
/// share an index is unknown; in a table of relative positions the most frequent index has 3 to 4
/// times the average. (self, indices, values, accumulate, ...)
LaunchEstimate puts_rows(const Call& call, const Cost& cost, const DeviceSpec& device) {
  LaunchEstimate launches = moved(cost, gather, 2, 11);
  const TensorSpec *table = call.input_at(0), *indices = call.input_at(1),
                   *values = call.input_at(2);
  if (!launches || launches->kernels.empty() || !table || !indices || !values || device.is_cpu ||
      call.integer(3, 0, 0) == 0)
    return launches;
  const double places = static_cast<double>(std::max<std::int64_t>(numbers(*indices), 1));
  const double rows = static_cast<double>(numbers(*table)) * places /
                      static_cast<double>(std::max<std::int64_t>(numbers(*values), 1));
  std::get<StreamWork>(launches->kernels[0].work).bytes +=
      bytes_of_clocks(device, clocks_of(device, "index_put.value") * places / std::max(rows, 1.0));
  return launches;
}

/// One kernel for each dimension, which moves number by number (roll_cuda_kernel).
/// (self, shifts, dims)
LaunchEstimate rolls(const Call& call, const Cost& cost, const DeviceSpec& device) {
  constexpr std::int64_t end = INT64_MIN;
  int dimensions = 0;
  while (call.integer(1, static_cast<std::size_t>(dimensions), end) != end) ++dimensions;
  LaunchEstimate launches =
      moved(cost, elementwise, std::max(dimensions, 1), std::max(dimensions, 1));
  const TensorSpec* out = call.output(0);
  if (out == nullptr) return launches;
  return at_least(std::move(launches),
                  std::max(dimensions, 1) * bytes_at_rate(device, numbers(*out), "roll.per_clock"));
}

/// Rows of more than 4,096 numbers are sorted in eight passes over the bits of an index
/// (should_use_small_sort in ATen/native/cuda/Sort.cpp), whose time is the same for few rows. Rows
/// are those of the last dimension, mostly.
LaunchEstimate sorts(const Call& call, const Cost& cost, const DeviceSpec& device) {
  constexpr std::int64_t longest_small = 4096;
  LaunchEstimate launches = moved(cost, sort, 8, 13);
  const TensorSpec* in = call.input(0);
  if (in == nullptr || in->sizes.empty() || in->sizes.back() <= longest_small) return launches;
  return at_least(std::move(launches), bytes_of_clocks(device, clocks_of(device, "sort.passes")));
}

constexpr TimeRule indexing_time_rows[] = {
    {"aten::index", gathers_rows<1>},
    {"aten::index_select", gathers_rows<2>},
    {"aten::index_put", puts_rows},
    {"aten::_index_put_impl", puts_rows},
    {"aten::gather", moves_bytes<gather>},
    {"aten::scatter_add", moves_bytes<gather, 200, 2>},
    {"aten::index_add", moves_bytes<gather, 200, 2>},
};
constexpr TimeRule masking_time_rows[] = {
    {"aten::nonzero", finds_and_waits},
    {"aten::masked_select", finds_and_waits},
};
constexpr TimeRule embedding_time_rows[] = {
    {"aten::embedding", gathers_rows<1>},
    {"aten::embedding_dense_backward", scatters_rows},
};
constexpr TimeRule sorting_time_rows[] = {
    {"aten::topk", moves_bytes<sort, 400, 4>},
    {"aten::sort", sorts},
    {"aten::argsort", sorts},
};
constexpr TimeRule copy_time_rows[] = {
    {"aten::clone", copies_layouts},
    {"aten::contiguous", copies_layouts},
    {"aten::cat", concatenates},
    {"aten::stack", concatenates},
    {"aten::roll", rolls},
    {"aten::_to_copy", copies_or_transfers},
    {"aten::copy", copies_or_transfers},
    {"aten::_lazy_clone", launches_nothing},
    {"aten::_local_scalar_dense", reads_one},
    {"aten::item", reads_one},
};
constexpr TimeRule random_time_rows[] = {
    {"aten::bernoulli", draws},
    {"aten::bernoulli_", draws},
    {"aten::randperm", moves_bytes<sort, 800, 16>},
    {"aten::multinomial", moves_bytes<sort, 200, 4>},
};
/// Collectives run on a separate stream, with times from another model
/// (profile/collective_times.h).
constexpr TimeRule collective_time_rows[] = {
    {"c10d::_allgather_base_", launches_nothing}, {"c10d::_reduce_scatter_base_", launches_nothing},
    {"c10d::allreduce_", launches_nothing},       {"fsdp::reshard", launches_nothing},
    {"fsdp::accumulate", launches_nothing},
};

}  // namespace

TimeRules collective_times() { return {moves_bytes<copy>, collective_time_rows}; }
TimeRules indexing_times() { return {moves_bytes<gather>, indexing_time_rows}; }
TimeRules masking_times() { return {moves_bytes<elementwise>, masking_time_rows}; }
TimeRules embedding_times() { return {moves_bytes<gather>, embedding_time_rows}; }
TimeRules sorting_times() { return {nullptr, sorting_time_rows}; }
TimeRules copy_times() { return {moves_bytes<elementwise>, copy_time_rows}; }
TimeRules view_times() { return {launches_nothing, {}}; }
TimeRules loss_times() { return {moves_bytes<elementwise>, {}}; }
TimeRules optimizer_times() { return {over_lists, {}}; }
TimeRules random_times() { return {moves_bytes<elementwise>, random_time_rows}; }

}  // namespace symprof::profile
