// Pooling and resampling. On a GPU each thread computes one output element, or one gradient, from
// all elements of its window: most kernels take longer for that than for their memory traffic.
#include <algorithm>
#include <cmath>

#include "profile/cost/multiprocessor.h"
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

using enum TimeClass;

/// Clocks of a multiprocessor per output element, and per element of its window.
struct Clocks {
  double number = 0, of_window = 0;
};

/// The larger of the call's bytes and the bytes that DRAM moves in `clocks`.
LaunchEstimate takes(const Cost& cost, const DeviceSpec& device, double clocks, int launches = 1) {
  return at_least(moved(cost, pooling, 1, launches), bytes_of_clocks(device, clocks));
}

double all_clocks(const TensorSpec& made, double window, Clocks clocks, const DeviceSpec& device) {
  return static_cast<double>(numbers(made)) * (clocks.number + clocks.of_window * window) /
         std::max(device.multiprocessors, 1);
}

/// The area of the window at argument `position`; one size stands for both.
double area(const Call& call, int position, double otherwise) {
  const std::int64_t first = call.integer(position, 0, 0);
  if (first == 0) return otherwise;
  return static_cast<double>(first * call.integer(position, 1, first));
}

/// The clocks of a pooling kernel. In channels-last layout max pooling has no clocks for an output
/// element, only for the elements of its window.
Clocks clocks_of_pool(const DeviceSpec& device, const std::string& rule, bool is_maximum,
                      bool channels_last) {
  if (!channels_last)
    return {clocks_of(device, rule + ".number"), clocks_of(device, rule + ".of_window")};
  return {is_maximum ? 0 : clocks_of(device, rule + ".last_number"),
          clocks_of(device, rule + ".last_of_window")};
}

/// (input, kernel_size, stride, ...)
template <bool is_maximum>
LaunchEstimate pools(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec *in = call.input_at(0), *out = call.output(0);
  if (device.is_cpu || !in || !out) return moved(cost, pooling);
  const bool channels_last = has_channels_last(*in);
  const Clocks clocks =
      clocks_of_pool(device, is_maximum ? "max_pool" : "average_pool", is_maximum, channels_last);
  return takes(cost, device, all_clocks(*out, area(call, 1, 1), clocks, device));
}

/// On a GPU each input position gathers from all windows that contain it. A CPU scatters each
/// gradient by its index. (grad_output, input, kernel_size, stride, ...)
template <bool is_maximum>
LaunchEstimate pools_backward(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec *in = call.input_at(1), *out = call.output(0);
  if (device.is_cpu) return moved(cost, is_maximum ? gather : pooling);
  if (!in || !out) return moved(cost, pooling, 3, 2);
  const double window = area(call, 2, 1), windows = std::max(window / area(call, 3, window), 1.0);
  const bool channels_last = has_channels_last(*in);
  const Clocks clocks =
      clocks_of_pool(device, is_maximum ? "max_pool_backward" : "average_pool_backward", is_maximum,
                     channels_last);
  return takes(cost, device, all_clocks(*out, windows, clocks, device), is_maximum ? 2 : 1);
}

double places_of(const TensorSpec& image) {
  const std::size_t rank = image.sizes.size();
  return rank < 2 ? 1 : static_cast<double>(image.sizes[rank - 1] * image.sizes[rank - 2]);
}

/// Clocks of `threads` that each loop over `turns`, if the device runs all of them at once.
double clocks_in_turn(double threads, double turns, double clocks, const DeviceSpec& device) {
  const auto room =
      static_cast<double>(threads_of_multiprocessor(device) * std::max(device.multiprocessors, 1));
  return turns * clocks * std::max(threads / room, 1.0);
}

LaunchEstimate resamples_nearest(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec* out = call.output(0);
  if (device.is_cpu || !out) return moved(cost, pooling);
  const double number =
      clocks_of(device, has_channels_last(*out) ? "nearest.last_number" : "nearest.number");
  return takes(cost, device, all_clocks(*out, 1, {number}, device));
}

/// A thread computes the gradient of one position, looping over all images
/// (upsample_nearest2d_backward_out_frame in native/cuda/UpSampleNearest2d.cu).
LaunchEstimate resamples_nearest_backward(const Call& call, const Cost& cost,
                                          const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *out = call.output(0);
  if (device.is_cpu || !gradient || !out || out->sizes.size() != 4 || numbers(*out) == 0)
    return moved(cost, pooling);
  const double gradients =
      static_cast<double>(numbers(*gradient)) / static_cast<double>(numbers(*out));
  if (has_channels_last(*gradient))
    return takes(
        cost, device,
        all_clocks(*gradient, 1, {clocks_of(device, "nearest_backward.last_number")}, device));
  const double images = static_cast<double>(out->sizes[0]);
  const double clocks = clocks_of(device, "nearest_backward.image") +
                        clocks_of(device, "nearest_backward.gradient") * gradients;
  return takes(cost, device,
               clocks_in_turn(static_cast<double>(numbers(*out)) / images, images, clocks, device));
}

/// A thread computes one position, looping over all channels and images
/// (upsample_bilinear2d_out_frame in native/cuda/UpSampleBilinear2d.cu).
LaunchEstimate resamples_bilinear(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec* out = call.output(0);
  if (device.is_cpu || !out || numbers(*out) == 0) return moved(cost, pooling);
  if (has_channels_last(*out))
    return takes(cost, device,
                 all_clocks(*out, 1, {clocks_of(device, "bilinear.last_number")}, device));
  const double places = places_of(*out);
  const double channels = static_cast<double>(numbers(*out)) / places;
  return takes(cost, device,
               clocks_in_turn(places, channels, clocks_of(device, "bilinear.channel"), device));
}

/// Each gradient is added to four elements with atomic operations; in 16 bit these are slower the
/// more gradients one element gets.
LaunchEstimate resamples_bilinear_backward(const Call& call, const Cost& cost,
                                           const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *out = call.output(0);
  if (device.is_cpu || !gradient || !out || numbers(*out) == 0) return moved(cost, pooling);
  const double scale =
      std::sqrt(static_cast<double>(numbers(*gradient)) / static_cast<double>(numbers(*out)));
  const bool is_half = element_bytes(out->dtype) < 4;
  const Clocks clocks = is_half ? Clocks{0, clocks_of(device, "bilinear_backward.half_of_scale")}
                                : Clocks{clocks_of(device, "bilinear_backward.number"), 0};
  return takes(cost, device, all_clocks(*gradient, scale, clocks, device), 2);
}

constexpr TimeRule pooling_time_rows[] = {
    {"aten::avg_pool2d", pools<false>},
    {"aten::avg_pool2d_backward", pools_backward<false>},
    {"aten::max_pool2d_with_indices", pools<true>},
    {"aten::max_pool2d_with_indices_backward", pools_backward<true>},
};
constexpr TimeRule resampling_time_rows[] = {
    {"aten::upsample_nearest2d", resamples_nearest},
    {"aten::upsample_nearest2d_backward", resamples_nearest_backward},
    {"aten::upsample_bilinear2d", resamples_bilinear},
    {"aten::upsample_bilinear2d_backward", resamples_bilinear_backward},
};

}  // namespace

TimeRules pooling_times() { return {moves_bytes<pooling>, pooling_time_rows}; }

TimeRules resampling_times() { return {moves_bytes<pooling>, resampling_time_rows}; }

}  // namespace symprof::profile
