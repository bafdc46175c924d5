#include "profile/cost/scratch/split_reduction.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/rounding.h"
#include "profile/cost/multiprocessor.h"
#include "profile/cost/scratch/precision.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t warp = 32;

/// A dimension of at::TensorIterator: strides in bytes, the output's 0 where it is reduced.
struct Dimension {
  std::int64_t size, output_stride, input_stride;
};

/// at::TensorIterator of one output and one input: the fastest dimension first, reduced ones before
/// the others (aten/src/ATen/TensorIterator.cpp).
struct Iterator {
  std::vector<Dimension> dimensions;
  std::int64_t input_offset = 0;  ///< In bytes.

  std::int64_t elements() const {
    Count product = 1;
    for (const Dimension& d : dimensions) product *= d.size;
    return product.value();
  }
  std::int64_t outputs() const {
    std::int64_t product = 1;
    for (const Dimension& d : dimensions)
      if (d.output_stride != 0) product *= d.size;
    return product;
  }
  std::size_t reduced_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(dimensions, [](const Dimension& d) { return d.output_stride == 0; }));
  }
  bool fits_32_bits() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    std::int64_t last_output = 1, last_input = 1;
    for (const Dimension& d : dimensions) {
      last_output += (d.size - 1) * d.output_stride;
      last_input += (d.size - 1) * d.input_stride;
    }
    return elements() <= most && last_output <= most && last_input <= most;
  }
};

/// Above 0: `a` and the later `b` are swapped (TensorIteratorBase::reorder_dimensions).
int order(const Dimension& a, const Dimension& b) {
  if ((a.output_stride == 0) != (b.output_stride == 0)) return b.output_stride == 0 ? 1 : -1;
  for (const auto stride : {&Dimension::output_stride, &Dimension::input_stride}) {
    if (a.*stride == 0 || b.*stride == 0) continue;
    if (a.*stride != b.*stride) return a.*stride < b.*stride ? -1 : 1;
    if (a.size > b.size) return 1;
  }
  return 0;
}

void reorder(std::vector<Dimension>& dimensions) {
  for (std::size_t i = 1; i < dimensions.size(); ++i) {
    std::size_t later = i;
    for (std::size_t earlier = i; earlier-- > 0;) {
      const int comparison = order(dimensions[earlier], dimensions[later]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(dimensions[earlier], dimensions[later]);
      later = earlier;
    }
  }
}

bool can_join(const Dimension& a, const Dimension& b) {
  return a.size == 1 || b.size == 1 ||
         (a.size * a.output_stride == b.output_stride && a.size * a.input_stride == b.input_stride);
}

void coalesce(std::vector<Dimension>& dimensions) {
  if (dimensions.size() <= 1) return;
  std::vector<Dimension> joined = {dimensions.front()};
  for (std::size_t i = 1; i < dimensions.size(); ++i) {
    Dimension& last = joined.back();
    if (!can_join(last, dimensions[i])) {
      joined.push_back(dimensions[i]);
      continue;
    }
    const std::int64_t size = last.size * dimensions[i].size;
    if (last.size == 1) last = dimensions[i];
    last.size = size;
  }
  dimensions = std::move(joined);
}

Iterator iterate(const Reduction& reduction) {
  const TensorSpec& input = reduction.input;
  const std::int64_t input_bytes = element_bytes(input.dtype);
  std::int64_t output_stride = element_bytes(reduction.output);
  Iterator result{.input_offset = input.storage_offset * input_bytes};
  for (std::size_t i = input.sizes.size(); i-- > 0;) {
    const bool is_reduced = reduction.is_reduced[i];
    result.dimensions.push_back(
        {input.sizes[i], is_reduced ? 0 : output_stride, input.strides[i] * input_bytes});
    if (!is_reduced) output_stride *= input.sizes[i];
  }
  reorder(result.dimensions);
  coalesce(result.dimensions);
  return result;
}

/// Returns the first half along the dimension with the largest extent in bytes; `rest` keeps the
/// second half (TensorIteratorBase::get_dim_to_split, split).
Iterator split_off(Iterator& rest) {
  std::int64_t furthest = -1;
  std::size_t at = 0;
  for (std::size_t i = rest.dimensions.size(); i-- > 0;) {
    const Dimension& d = rest.dimensions[i];
    for (const std::int64_t stride : {d.output_stride, d.input_stride})
      if ((d.size - 1) * stride > furthest) {
        furthest = (d.size - 1) * stride;
        at = i;
      }
  }
  Iterator half = rest;
  half.dimensions[at].size /= 2;
  rest.dimensions[at].size -= half.dimensions[at].size;
  rest.input_offset += half.dimensions[at].size * rest.dimensions[at].input_stride;
  return half;
}

/// Outputs per vectorized load of a thread (get_output_vec_size).
std::int64_t outputs_of_load(const Iterator& iterator, std::int64_t element) {
  const std::size_t output = iterator.reduced_count();
  std::int64_t width = 4;
  const auto divide = [&](std::int64_t value) {
    while (value % width != 0) width /= 2;
  };
  divide(iterator.input_offset / element);
  divide(iterator.dimensions[output].size);
  for (std::size_t i = 0; i < iterator.dimensions.size(); ++i)
    if (i != output) divide(iterator.dimensions[i].input_stride / element);
  return width;
}

/// The launch configuration of a reduction: ReduceConfig and setReduceConfig.
class Launch {
 public:
  Launch(const Iterator& iterator, const Reduction& reduction, const DeviceSpec& device)
      : accumulator_bytes_(reduction.accumulator_bytes), outputs_(iterator.outputs()) {
    const std::int64_t element = element_bytes(reduction.input.dtype);
    const std::int64_t inputs = iterator.elements() / outputs_;
    const std::vector<Dimension>& dimensions = iterator.dimensions;
    const std::size_t reduced = iterator.reduced_count();
    along_input_ = reduced == dimensions.size() ||
                   dimensions[0].input_stride < dimensions[reduced].input_stride;
    std::int64_t across = along_input_ ? inputs : outputs_;
    const std::int64_t down = along_input_ ? outputs_ : inputs;
    const std::int64_t fastest =
        dimensions.empty() ? element : dimensions[along_input_ ? 0 : reduced].input_stride;
    if (fastest == element && !along_input_) {
      load_ = outputs_of_load(iterator, element);
      across /= load_;
    } else if (fastest == element && across >= 128 && reduced == 1) {
      across /= inputs_of_load;
    }
    shape_block(across, down, reduction.input.dtype);
    split(inputs, device);
  }

  bool meets_in_memory() const { return blocks_of_output_ > 1; }
  Count buffer_bytes() const {
    const Count bytes = Count(accumulator_bytes_) * outputs_ * blocks_of_output_;
    return along_input_ ? bytes : bytes * width_ * load_;
  }
  std::int64_t semaphore_bytes() const { return grid_ * std::int64_t{4}; }

 private:
  static constexpr std::int64_t inputs_of_load = 4;

  void shape_block(std::int64_t across, std::int64_t down, DType dtype) {
    const std::int64_t most = (dtype == DType::complex128 ? 256 : 512) / load_;
    const std::int64_t widest =
        across < most ? floor_power_of_two(std::max<std::int64_t>(across, 1)) : most;
    const std::int64_t highest = down < most ? floor_power_of_two(down) : most;
    width_ = std::min(widest, warp);
    height_ = std::min(highest, most / width_);
    width_ = std::min(widest, most / height_);
  }

  /// Splits across warps, and if threads still have many values, across blocks.
  void split(std::int64_t inputs, const DeviceSpec& device) {
    constexpr std::int64_t least_values = 16, most_values = 256;
    std::int64_t input_step = along_input_ ? width_ : 1, output_step = along_input_ ? 1 : width_;
    const auto values = [&] { return divide_up(inputs, input_step); };
    const bool splits_warps = values() >= std::min(height_ * least_values, most_values);
    (splits_warps ? input_step : output_step) *= height_;
    const std::int64_t slots =
        device.multiprocessors * (threads_of_multiprocessor(device) / (width_ * height_));
    grid_ = divide_up(outputs_ / load_, output_step);
    if (!splits_warps || values() < most_values || grid_ > slots) return;
    blocks_of_output_ =
        std::max(std::min(divide_up(slots, grid_), divide_up(values(), least_values)),
                 divide_up(values(), most_values));
  }

  std::int64_t accumulator_bytes_, outputs_;
  bool along_input_ = true;
  std::int64_t load_ = 1, width_ = 1, height_ = 1, grid_ = 1, blocks_of_output_ = 1;
};

void add_piece(Scratch& scratch, const Iterator& iterator, const Reduction& reduction,
               const DeviceSpec& device) {
  const Launch launch(iterator, reduction, device);
  if (!launch.meets_in_memory()) return;
  const std::size_t buffer = scratch.take(launch.buffer_bytes());
  const std::size_t semaphores = scratch.take(launch.semaphore_bytes());
  scratch.give_back(semaphores);
  scratch.give_back(buffer);
}

/// Bytes of the accumulators that combine pieces if the output cannot: one per output element.
std::int64_t accumulation_bytes(const Iterator& iterator, const Reduction& reduction) {
  std::int64_t reach = element_bytes(reduction.output);
  for (const Dimension& d : iterator.dimensions) reach = std::max(reach, d.size * d.output_stride);
  return reach / element_bytes(reduction.output) * reduction.accumulator_bytes;
}

}  // namespace

Reduction sum_of(const TensorSpec& input, std::vector<bool> is_reduced) {
  return {.input = input,
          .is_reduced = std::move(is_reduced),
          .output = input.dtype,
          .accumulator_bytes = accumulated_bytes(input.dtype),
          .accumulates_in_output = !is_half(input.dtype)};
}

std::vector<bool> all_dimensions(const TensorSpec& tensor) {
  return std::vector<bool>(tensor.sizes.size(), true);
}

Reduction extrema_of(const TensorSpec& input) {
  return {.input = input,
          .is_reduced = all_dimensions(input),
          .output = input.dtype,
          .accumulator_bytes = 2 * element_bytes(input.dtype),
          .accumulates_in_output = false};
}

Reduction truth_of(const TensorSpec& mask, std::vector<bool> is_reduced) {
  return {.input = mask,
          .is_reduced = std::move(is_reduced),
          .output = DType::boolean,
          .accumulator_bytes = 1};
}

void add_reduction(Scratch& scratch, const Reduction& reduction, const DeviceSpec& device) {
  const Iterator whole = iterate(reduction);
  if (whole.elements() == 0) return;
  if (whole.fits_32_bits()) return add_piece(scratch, whole, reduction, device);
  // Hundreds of pieces, more bytes than any device has.
  constexpr std::int64_t most_elements = std::int64_t{1} << 38;
  if (whole.elements() > most_elements) {
    scratch.is_incomplete = true;
    return;
  }
  std::optional<std::size_t> accumulation;
  if (!reduction.accumulates_in_output)
    accumulation = scratch.take(accumulation_bytes(whole, reduction));
  std::vector<Iterator> left = {whole};
  while (!left.empty()) {
    if (!left.back().fits_32_bits()) {
      left.push_back(split_off(left.back()));
      continue;
    }
    add_piece(scratch, left.back(), reduction, device);
    left.pop_back();
  }
  if (accumulation) scratch.give_back(*accumulation);
}

}  // namespace symprof::profile
