#include "meta/kernels/composites.h"

#include <ATen/ATen.h>
#include <ATen/ops/ctc_loss_native.h>
#include <ATen/ops/istft_native.h>
#include <torch/library.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/values_setting.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"
#include "meta/fake/observer.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using std::optional;

thread_local bool in_search_of_faults = false;

// native/SpectralOps.cpp: `equal` checks if the window sum is 0 anywhere.
Tensor istft(const Tensor& self, int64_t n_fft, optional<int64_t> hop_length,
             optional<int64_t> win_length, const optional<Tensor>& window, bool center,
             bool normalized, optional<bool> onesided, optional<int64_t> length,
             bool return_complex) {
  struct Search {
    bool before = std::exchange(in_search_of_faults, true);
    ~Search() { in_search_of_faults = before; }
  } const search;
  return at::native::istft(self, n_fft, hop_length, win_length, window, center, normalized,
                           onesided, length, return_complex);
}

/// The numbers of `lengths`, which PyTorch copies to the host; `bound` if they are unknown.
template <class Bound>
std::vector<int64_t> lengths_of(const Tensor& lengths, Bound&& bound) {
  const Tensor on_host = lengths.to(at::kCPU, at::kLong);
  if (const auto values = meta::known_values(on_host)) {
    const meta::OnRealTensors on_real_tensors;
    const Tensor flat = values->contiguous();
    return {flat.const_data_ptr<int64_t>(), flat.const_data_ptr<int64_t>() + flat.numel()};
  }
  const auto observer = meta::current_observer();
  if (observer && observer->takes_upper_bounds()) return bound();
  throw Error("",
              "ctc_loss reads the lengths of its sequences, and a tensor without storage has none",
              "Give them with " + values_setting() +
                  ", or take all sequences to be as long as they can be with " +
                  setting("unbacked", "max") + ".");
}

// Upper bounds of the target lengths. Targets are [N, S], or concatenated: then one sample may have
// all of them; the table of states is sized by the longest.
std::vector<int64_t> longest_targets(const Tensor& targets, int64_t count) {
  if (targets.dim() == 2)
    return std::vector<int64_t>(static_cast<std::size_t>(count), targets.size(1));
  std::vector<int64_t> lengths(static_cast<std::size_t>(count), 0);
  if (!lengths.empty()) lengths.front() = targets.numel();
  return lengths;
}

// native/LossCTC.cpp: log_probs [T, N, C] or [T, C]. The overload for tensor lengths reads them,
// then continues as the overload for integers.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction,
                bool zero_infinity) {
  if (!meta::is_fake(log_probs))
    return at::native::ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction,
                                zero_infinity);
  const auto of_inputs = lengths_of(input_lengths, [&] {
    return std::vector<int64_t>(static_cast<std::size_t>(input_lengths.numel()), log_probs.size(0));
  });
  const auto of_targets =
      lengths_of(target_lengths, [&] { return longest_targets(targets, target_lengths.numel()); });
  return at::native::ctc_loss(log_probs, targets, of_inputs, of_targets, blank, reduction,
                              zero_infinity);
}

}  // namespace

bool looks_for_faults() { return in_search_of_faults; }

void register_composites(torch::Library& library) {
  library.impl("ctc_loss.Tensor", &ctc_loss);
  library.impl("istft", &istft);
}

}  // namespace symprof::kernels
