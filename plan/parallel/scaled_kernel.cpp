#include "plan/parallel/scaled_kernel.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace symprof::plan {
namespace {

using profile::AttentionWork;
using profile::ConvolutionWork;
using profile::FunctionWork;
using profile::ProductWork;
using profile::RecurrentWork;
using profile::RowWork;
using profile::StreamWork;

void scale_size(std::int64_t& size, double factor) {
  size = std::max<std::int64_t>(std::llround(static_cast<double>(size) * factor), 1);
}

/// Two of m, n and k are the weight's sizes, and the third is the number of tokens: forward
/// [tokens, in] · [in, out], and the two products of backward.
void scale_linear(ProductWork& work, const KernelScale& scale) {
  const std::int64_t out = scale.weight->sizes[0], in = scale.weight->sizes[1];
  std::int64_t* sizes[] = {&work.m, &work.n, &work.k};
  bool has_out = false, has_in = false;
  for (std::int64_t* size : sizes) {
    if (!has_out && *size == out) {
      has_out = true;
      if (scale.splits_outputs) scale_size(*size, scale.share);
    } else if (!has_in && *size == in) {
      has_in = true;
      if (!scale.splits_outputs) scale_size(*size, scale.share);
    } else {
      scale_size(*size, scale.samples);
    }
  }
}

/// As scale_linear, for each expert: fewer experts, each with the rows of more ranks.
void scale_experts(ProductWork& work, const KernelScale& scale) {
  scale_size(work.batch, 1.0 / scale.expert_ranks);
  std::vector<std::int64_t> weights(scale.experts->sizes.begin() + 1, scale.experts->sizes.end());
  for (std::int64_t* size : {&work.m, &work.n, &work.k}) {
    const auto found = std::ranges::find(weights, *size);
    if (found != weights.end())
      weights.erase(found);
    else
      scale_size(*size, scale.samples * scale.expert_ranks);
  }
}

void scale_work(ProductWork& work, const KernelScale& scale) {
  if (scale.experts != nullptr) return scale_experts(work, scale);
  if (scale.weight != nullptr) return scale_linear(work, scale);
  const double factor = scale.samples * scale.share;
  scale_size(static_cast<double>(work.batch) * factor >= 1 ? work.batch : work.m, factor);
}

void scale_work(AttentionWork& work, const KernelScale& scale) {
  scale_size(work.batch, scale.samples);
  scale_size(work.heads, scale.share);
  scale_size(work.kv_heads, scale.share);
}

void scale_work(ConvolutionWork& work, const KernelScale& scale) {
  scale_size(work.batch, scale.samples * scale.share);
}
void scale_work(RecurrentWork& work, const KernelScale& scale) {
  scale_size(work.batch, scale.samples * scale.share);
}
void scale_work(StreamWork& work, const KernelScale& scale) {
  scale_size(work.bytes, scale.samples * scale.share);
}
void scale_work(FunctionWork& work, const KernelScale& scale) {
  scale_size(work.numbers, scale.samples * scale.share);
  scale_size(work.bytes, scale.samples * scale.share);
}
void scale_work(RowWork& work, const KernelScale& scale) {
  scale_size(work.rows, scale.samples * scale.share);
  scale_size(work.bytes, scale.samples * scale.share);
}

}  // namespace

profile::Kernel scaled(const profile::Kernel& kernel, const KernelScale& scale) {
  profile::Kernel result = kernel;
  std::visit([&](auto& work) { scale_work(work, scale); }, result.work);
  return result;
}

}  // namespace symprof::plan
