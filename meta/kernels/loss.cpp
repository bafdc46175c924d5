// Losses (native/Loss.cpp, native/cuda/Loss.cu, MultiMarginLoss.cu, MultiLabelMarginCriterion.cu,
// NLLLoss2d.cu, LossCTC.cu).
#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;

bool reduces(int64_t reduction) { return reduction != at::Reduction::None; }

// The CUDA kernel reduces into the tensor of element losses: the scalar keeps a storage of the
// input's size.
Tensor binary_cross_entropy(const Tensor& self, const Tensor&, const optional<Tensor>&,
                            int64_t reduction) {
  Tensor loss = at::empty_like(self);
  if (reduces(reduction)) loss.resize_({});
  return loss;
}

Tensor binary_cross_entropy_backward(const Tensor&, const Tensor& self, const Tensor&,
                                     const optional<Tensor>&, int64_t) {
  return at::empty_like(self);
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  TORCH_CHECK(delta > 0, "huber_loss: found delta=", delta, ", wanted a positive one");
  const Tensor loss = pointwise({self, target});
  return reduces(reduction) ? fresh({}, loss) : loss;
}

Tensor mse_loss_backward(const Tensor&, const Tensor& self, const Tensor&, int64_t) {
  return contiguous_like(self);
}

// Scores are [N, C], [C] or a scalar; targets are one class per sample, or `classes` of them.
void check_margin_loss(const char* op, const Tensor& self, const Tensor& target,
                       bool many_classes) {
  TORCH_CHECK(self.dim() <= 2 && (self.dim() == 0 || self.size(-1) != 0), op,
              ": found an input of size ", self.sizes(), ", wanted [N, C] or [C], C not 0");
  const auto classes = self.dim() == 0 ? 1 : self.size(-1);
  const auto samples = self.dim() == 2 ? self.size(0) : 1;
  const bool fits = many_classes && self.dim() == 2
                        ? target.sizes() == self.sizes()
                        : target.dim() <= 1 && target.numel() == (many_classes ? classes : samples);
  TORCH_CHECK(fits, op, ": found a target of size ", target.sizes(), " for an input of size ",
              self.sizes());
}

// Input [N, C] or [C], one loss per sample.
Tensor per_sample(const Tensor& self, int64_t reduction) {
  return reduces(reduction) || self.dim() < 2 ? fresh({}, self) : fresh({self.size(0)}, self);
}

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar&, const Scalar&,
                         const optional<Tensor>& weight, int64_t reduction) {
  check_margin_loss("multi_margin_loss", self, target, /*many_classes=*/false);
  TORCH_CHECK(!present(weight) || weight->numel() == (self.dim() == 0 ? 1 : self.size(-1)),
              "multi_margin_loss: found ", present(weight) ? weight->numel() : 0,
              " weights for an input of size ", self.sizes());
  return reduces(reduction) ? fresh({}, self) : fresh(target.sizes(), self);
}

Tensor multi_margin_loss_backward(const Tensor&, const Tensor& self, const Tensor&, const Scalar&,
                                  const Scalar&, const optional<Tensor>&, int64_t) {
  return contiguous_like(self);
}

Two multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check_margin_loss("multilabel_margin_loss", self, target, /*many_classes=*/true);
  return {per_sample(self, reduction), fresh(target.sizes(), self)};
}

Tensor multilabel_margin_loss_backward(const Tensor&, const Tensor& self, const Tensor&, int64_t,
                                       const Tensor&) {
  return contiguous_like(self);
}

// Input [N, C, H, W], target [N, H, W].
Two nll_loss2d(const Tensor& self, const Tensor& target, const optional<Tensor>&, int64_t reduction,
               int64_t) {
  TORCH_CHECK(self.dim() == 4 && target.dim() == 3, "nll_loss2d: found an input of size ",
              self.sizes(), " and a target of size ", target.sizes(),
              ", wanted [N, C, H, W] and [N, H, W]");
  return {reduces(reduction) ? fresh({}, self) : fresh(target.sizes(), self), fresh({}, self)};
}

Tensor nll_loss2d_backward(const Tensor&, const Tensor& self, const Tensor&,
                           const optional<Tensor>&, int64_t, int64_t, const Tensor&) {
  return contiguous_like(self);
}

Tensor ctc_loss_backward(const Tensor&, const Tensor& log_probs, const Tensor&, IntArrayRef,
                         IntArrayRef, const Tensor&, const Tensor&, int64_t, bool) {
  return contiguous_like(log_probs);
}

Tensor ctc_loss_backward_tensor(const Tensor&, const Tensor& log_probs, const Tensor&,
                                const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t,
                                bool) {
  return contiguous_like(log_probs);
}

// cuDNN's CTC loss needs int32 targets in host memory and log-probabilities on the GPU. Fake
// targets are on the GPU, so the native kernel runs (native/cudnn/LossCTC.cpp). MIOpen is AMD's.
bool uses_library_for_ctc(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, int64_t) {
  return false;
}

bool uses_library_for_ctc_tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                 int64_t) {
  return false;
}

// log_probs [T, N, C]; cuDNN computes the gradient in the forward pass and keeps it for backward.
Two cudnn_ctc_loss(const Tensor& log_probs, const Tensor&, IntArrayRef lengths, IntArrayRef,
                   int64_t, bool, bool) {
  return {fresh({static_cast<int64_t>(lengths.size())}, log_probs), contiguous_like(log_probs)};
}

}  // namespace

void register_loss(torch::Library& library) {
  library.impl("binary_cross_entropy", &binary_cross_entropy);
  library.impl("binary_cross_entropy_backward", &binary_cross_entropy_backward);
  library.impl("huber_loss", &huber_loss);
  library.impl("mse_loss_backward", &mse_loss_backward);
  library.impl("multi_margin_loss", &multi_margin_loss);
  library.impl("multi_margin_loss_backward", &multi_margin_loss_backward);
  library.impl("multilabel_margin_loss_forward", &multilabel_margin_loss);
  library.impl("multilabel_margin_loss_backward", &multilabel_margin_loss_backward);
  library.impl("nll_loss2d_forward", &nll_loss2d);
  library.impl("nll_loss2d_backward", &nll_loss2d_backward);
  library.impl("_ctc_loss_backward", &ctc_loss_backward);
  library.impl("_ctc_loss_backward.Tensor", &ctc_loss_backward_tensor);
  library.impl("_use_cudnn_ctc_loss", &uses_library_for_ctc);
  library.impl("_use_cudnn_ctc_loss.Tensor", &uses_library_for_ctc_tensor);
  library.impl("_use_miopen_ctc_loss", &uses_library_for_ctc);
  library.impl("_use_miopen_ctc_loss.Tensor", &uses_library_for_ctc_tensor);
  library.impl("_cudnn_ctc_loss", &cudnn_ctc_loss);
}

}  // namespace symprof::kernels
