// Copies, concatenations and factories: no arithmetic, exact bytes. `contiguous` and `reshape`
// never appear here: they are decomposed into a view or a clone.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// True if the tensor is in host memory. A program's own host tensor has no storage in the
/// recording.
bool is_on_host(const Call& call, const TensorRecord& tensor) {
  return tensor.storage == none || !call.lies_on_device(tensor);
}

/// A copy, possibly between host and device memory.
Estimate copies(const Call& call, Estimate estimate) {
  if (!estimate || call.record().inputs.empty() || call.record().outputs.empty()) return estimate;
  const TensorRecord& made = call.record().outputs.front();
  const TensorRecord& source = call.record().inputs.back();
  if (call.spec(made) && call.spec(source) && is_on_host(call, made) != is_on_host(call, source))
    estimate->transfer_bytes = call.spec(made)->bytes();
  return estimate;
}

Estimate converts(const Call& call) { return copies(call, moves(call)); }
Estimate copies_into(const Call& call) { return copies(call, overwrites<0>(call)); }

/// The gradient of a view: zeros of the base's size, then the gradient written into the viewed
/// part.
Estimate view_backward(const Call& call) {
  const TensorSpec* gradient = call.input_at(0);
  if (!gradient) return std::nullopt;
  return cost({}, read_bytes(call),
              written_bytes(call) + elements(*gradient) * element_bytes(gradient->dtype));
}

constexpr Rule copy_rows[] = {
    {"aten::clone", moves},
    {"aten::lift_fresh_copy", moves},
    {"aten::contiguous", moves},
    {"aten::_to_copy", converts},
    {"aten::to", moves},
    {"aten::copy", copies_into},
    {"aten::_copy_from", moves},
    {"aten::_lazy_clone", touches_nothing, Confidence::free},
    {"aten::_pin_memory", moves},
    {"aten::cat", moves},
    {"aten::concat", moves},
    {"aten::stack", moves},
    {"aten::_stack", moves},
    {"aten::_chunk_cat", moves},
    {"aten::block_diag", moves},
    {"aten::constant_pad_nd", moves},
    {"aten::repeat", moves},
    {"aten::repeat_interleave", moves},
    {"aten::tile", moves},
    {"aten::flip", moves},
    {"aten::roll", moves},
    {"aten::rot90", moves},
    {"aten::tril", moves},
    {"aten::triu", moves},
    {"aten::diag_embed", moves},
    {"aten::pixel_shuffle", moves},
    {"aten::pixel_unshuffle", moves},
    {"aten::channel_shuffle", moves},
    {"aten::slice_scatter", moves},
    {"aten::select_scatter", moves},
    {"aten::diagonal_scatter", moves},
    {"aten::as_strided_scatter", moves},
    {"aten::slice_backward", view_backward},
    {"aten::select_backward", view_backward},
    {"aten::diagonal_backward", view_backward},
    {"aten::unfold_backward", per_input<1>, Confidence::modelled},
    {"aten::im2col", moves},
    {"aten::col2im", per_input<1>},
    {"aten::view_copy", moves},
    {"aten::diagonal_copy", moves},
    {"aten::narrow_copy", moves},
    {"aten::unfold_copy", moves},
    {"aten::hstack", moves},
    {"aten::vstack", moves},
    {"aten::dstack", moves},
    {"aten::permute_copy", moves},
    {"aten::transpose_copy", moves},
    {"aten::t_copy", moves},
    {"aten::expand_copy", moves},
    {"aten::slice_copy", moves},
    {"aten::select_copy", moves},
    {"aten::squeeze_copy", moves},
    {"aten::unsqueeze_copy", moves},
    {"aten::split_with_sizes_copy", moves},
    {"aten::unbind_copy", moves},
    {"aten::alias_copy", moves},
    {"aten::detach_copy", moves},
    {"aten::as_strided_copy", moves},
    {"aten::fill", overwrites<0>},
    {"aten::zero", overwrites<0>},
    {"aten::zeros", generates<0>},
    {"aten::zeros_like", generates<0>},
    {"aten::new_zeros", generates<0>},
    {"aten::ones", generates<0>},
    {"aten::ones_like", generates<0>},
    {"aten::new_ones", generates<0>},
    {"aten::full", generates<0>},
    {"aten::full_like", generates<0>},
    {"aten::new_full", generates<0>},
    {"aten::scalar_tensor", generates<0>},
    {"aten::eye", generates<0>},
    {"aten::arange", generates<0>},
    {"aten::range", generates<0>},
    {"aten::linspace", generates<0>},
    {"aten::logspace", generates<1>, Confidence::modelled},
    {"aten::tril_indices", generates<0>},
    {"aten::triu_indices", generates<0>},
    {"aten::hann_window", generates<1>, Confidence::modelled},
    {"aten::hamming_window", generates<1>, Confidence::modelled},
    {"aten::bartlett_window", generates<1>, Confidence::modelled},
    {"aten::blackman_window", generates<1>, Confidence::modelled},
    {"aten::kaiser_window", generates<1>, Confidence::modelled},
    {"aten::fft_fftfreq", generates<1>, Confidence::modelled},
    {"aten::fft_rfftfreq", generates<1>, Confidence::modelled},
    // One element to the host.
    {"aten::_local_scalar_dense", moves},
    {"aten::item", moves},
};

}  // namespace

Rules copy_rules() { return copy_rows; }

}  // namespace symprof::profile
