// Fourier transforms, windows and the mel scale.
#include <fmt/format.h>

#include <cmath>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// [..., 2] as complex numbers; [..., 1] as real numbers without the last dimension.
at::Tensor from_pairs(const OnnxCall& call, const at::Tensor& x) {
  const std::int64_t last = x.dim() == 0 ? 0 : x.size(-1);
  if (last == 1) return x.squeeze(-1);
  if (last != 2)
    call.fail(fmt::format("a last dimension of {}", last), "Wanted: 1 (real) or 2 (complex).");
  return at::view_as_complex(x.contiguous());
}

at::Tensor to_pairs(const at::Tensor& x) {
  return x.is_complex() ? at::view_as_real(x) : x.unsqueeze(-1);
}

/// The axis is an input since opset 20 (default: the last but one), before that an attribute.
Tensors fourier(OnnxCall& call) {
  const at::Tensor x = from_pairs(call, call.input(0));
  const std::int64_t rank = call.input(0).dim();
  const std::int64_t axis = call.opset() < 20 ? call.integer("axis", 1)
                            : call.has(2)     ? call.integer_of(2)
                                              : -2;
  const std::int64_t dimension = checked_axis(call, axis, rank);
  if (dimension == rank - 1) call.fail("the axis of the real and imaginary parts");
  std::optional<std::int64_t> length;
  if (call.has(1)) length = call.integer_of(1);
  const bool inverse = call.is_set("inverse"), onesided = call.is_set("onesided");
  if (inverse && onesided) return {to_pairs(at::fft_irfft(x, length, dimension))};
  if (inverse) return {to_pairs(at::fft_ifft(x, length, dimension))};
  if (onesided && !x.is_complex()) return {to_pairs(at::fft_rfft(x, length, dimension))};
  return {to_pairs(at::fft_fft(x, length, dimension))};
}

/// signal [batch, length, 1 or 2] to [batch, frames, bins, 2].
Tensors short_time_fourier(OnnxCall& call) {
  const at::Tensor x = from_pairs(call, call.input(0));
  const std::int64_t step = call.integer_of(1);
  const std::int64_t length = call.has(3) ? call.integer_of(3) : call.input(2).numel();
  at::Tensor frames = x.unfold(1, length, step);
  if (call.has(2)) frames = at::mul(frames, to_device_of(call.input(2), x));
  const bool onesided = call.integer("onesided", 1) != 0 && !x.is_complex();
  return {to_pairs(onesided ? at::fft_rfft(frames) : at::fft_fft(frames))};
}

at::TensorOptions window_options(const OnnxCall& call) {
  const at::ScalarType type = dtype_of_attribute(call, call.integer("output_datatype", 1));
  return at::device(call.device).dtype(type);
}

bool is_periodic(const OnnxCall& call) { return call.integer("periodic", 1) != 0; }

Tensors hann(OnnxCall& call) {
  return {at::hann_window(call.integer_of(0), is_periodic(call), window_options(call))};
}

/// ONNX uses 25/46 and 21/46; PyTorch's defaults are 0.54 and 0.46.
Tensors hamming(OnnxCall& call) {
  return {at::hamming_window(call.integer_of(0), is_periodic(call), 25.0 / 46.0, 21.0 / 46.0,
                             window_options(call))};
}

Tensors blackman(OnnxCall& call) {
  return {at::blackman_window(call.integer_of(0), is_periodic(call), window_options(call))};
}

/// The Fourier bins where the triangles of the mel filters begin and end (ONNX, MelWeightMatrix).
Integers mel_bins(std::int64_t filters, std::int64_t length, double rate, double low, double high) {
  const auto to_mel = [](double hertz) { return 2595.0 * std::log10(1.0 + hertz / 700.0); };
  const double first = to_mel(low);
  const double step = (to_mel(high) - first) / static_cast<double>(filters + 2);
  Integers bins;
  for (std::int64_t i = 0; i < filters + 2; ++i) {
    const double mel = static_cast<double>(i) * step + first;
    const double hertz = 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
    bins.push_back(
        static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / rate)));
  }
  return bins;
}

Tensors mel_weights(OnnxCall& call) {
  const std::int64_t filters = call.integer_of(0), length = call.integer_of(1);
  const std::int64_t rows = length / 2 + 1;
  if (filters < 1 || length < 1 || filters > 1'000'000 || rows > 10'000'000)
    call.fail(fmt::format("{} filters of a transform of {}", filters, length));
  const Integers bins =
      mel_bins(filters, length, call.real_of(2), call.real_of(3), call.real_of(4));
  at::Tensor weights = at::zeros({rows, filters}, host_options(at::kFloat));
  auto cell = weights.accessor<float, 2>();
  for (std::int64_t i = 0; i < filters; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t begin = bins[at], middle = bins[at + 1], end = bins[at + 2];
    const auto within = [&](std::int64_t row) { return row >= 0 && row < rows; };
    const auto fraction = [](std::int64_t a, std::int64_t b) {
      return static_cast<float>(a) / static_cast<float>(b);
    };
    if (begin == middle && within(middle)) cell[middle][i] = 1;
    for (std::int64_t j = begin; j <= middle && middle > begin; ++j)
      if (within(j)) cell[j][i] = fraction(j - begin, middle - begin);
    for (std::int64_t j = middle; j < end; ++j)
      if (within(j)) cell[j][i] = fraction(end - j, end - middle);
  }
  const at::ScalarType type = dtype_of_attribute(call, call.integer("output_datatype", 1));
  return {weights.to(call.device, type)};
}

constexpr Lowering signal_rows[] = {
    {"onnx::BlackmanWindow", blackman},     {"onnx::DFT", fourier},
    {"onnx::HammingWindow", hamming},       {"onnx::HannWindow", hann},
    {"onnx::MelWeightMatrix", mel_weights}, {"onnx::STFT", short_time_fourier},
};

}  // namespace

Lowerings signal_lowerings() { return signal_rows; }

}  // namespace symprof::lowering
