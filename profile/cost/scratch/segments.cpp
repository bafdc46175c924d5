// Reductions of segments of a dimension (aten/src/ATen/native/cuda/SegmentReduce.cu,
// aten/src/ATen/native/SegmentReduce.cpp).
#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {
namespace {

/// The kernels want both lengths and offsets: lengths are summed up after a zero, of offsets the
/// differences are taken.
void add_offsets(Scratch& result, const TensorSpec* lengths, const TensorSpec* offsets) {
  const TensorSpec& given = lengths != nullptr ? *lengths : *offsets;
  const std::int64_t last = given.sizes.back();
  const std::int64_t rows = last == 0 ? 0 : given.numel() / last;
  if (lengths == nullptr) {
    result.take(Count(rows) * (last - 1) * long_bytes);
    return;
  }
  const std::size_t zeros = result.take(Count(rows) * long_bytes);
  result.take(Count(rows) * (last + 1) * long_bytes);
  result.give_back(zeros);
  if (given.sizes.size() == 1) result.give_back(result.take(cub::scan_bytes(last + 1, long_bytes)));
}

/// Null where neither says what the segments are.
bool has_segments(const TensorSpec* lengths, const TensorSpec* offsets) {
  const TensorSpec* given = lengths != nullptr ? lengths : offsets;
  return given != nullptr && !given->sizes.empty() && given->numel() > 0;
}

/// (data, reduce, lengths, indices, offsets, axis, unsafe, initial). A line is reduced by cub, of
/// which the temporary storage is one byte.
Scratch segment_reduce(const Call& call, const DeviceSpec&) {
  const TensorSpec *data = call.input_at(0), *lengths = call.input_at(2),
                   *offsets = call.input_at(4);
  if (data == nullptr || !has_segments(lengths, offsets)) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*data)) result.take(data->bytes());
  result.make_outputs();
  add_offsets(result, lengths, offsets);
  if (data->sizes.size() == 1) result.give_back(result.take(1));
  return result;
}

/// (gradient, output, data, reduce, lengths, offsets, axis, initial)
Scratch segment_reduce_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *gradient = call.input_at(0), *lengths = call.input_at(4),
                   *offsets = call.input_at(5);
  if (gradient == nullptr || !has_segments(lengths, offsets)) return {.is_incomplete = true};
  Scratch result;
  for (const int position : {0, 2})
    if (const TensorSpec* tensor = call.input_at(position);
        tensor != nullptr && !is_row_major(*tensor))
      result.take(tensor->bytes());
  result.make_outputs();
  add_offsets(result, lengths, offsets);
  return result;
}

constexpr ScratchRule segments_rows[] = {
    {"aten::segment_reduce", segment_reduce},
    {"aten::_segment_reduce_backward", segment_reduce_backward},
};

}  // namespace

ScratchRules segment_scratch() { return segments_rows; }

}  // namespace symprof::profile
