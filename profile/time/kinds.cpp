// Kinds of kernels within a class: described by one set of coefficients, but implemented
// differently by libraries.
#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

std::string_view kind_of_convolution(const ConvolutionWork& c) {
  const bool is_forward = c.pass == ConvolutionPass::forward;
  if (c.groups > 1 && c.in_channels / c.groups < 4)
    return is_forward ? "direct" : "direct_backward";
  if (c.groups > 1) return is_forward ? "grouped" : "grouped_backward";
  if (c.window == 1) return is_forward ? "point" : "point_backward";
  return is_forward ? "dense" : "dense_backward";
}

}  // namespace

std::string_view kind_of(const Kernel& kernel) {
  if (const auto* c = std::get_if<ConvolutionWork>(&kernel.work)) return kind_of_convolution(*c);
  if (const auto* p = std::get_if<ProductWork>(&kernel.work))
    return p->batch > 1 ? "batched" : "one";
  if (const auto* a = std::get_if<AttentionWork>(&kernel.work))
    return a->backward ? "backward" : "forward";
  return "all";
}

}  // namespace symprof::profile
