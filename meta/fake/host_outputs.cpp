#include "meta/fake/host_outputs.h"

#include <algorithm>

namespace symprof::meta {
namespace {

struct HostOutput {
  std::string_view op;
  std::size_t index;
};

// The random state of memory-efficient attention is a pair of int64 scalars in host memory outside
// of graph capture (native/transformers/cuda/attention.cu, Note [Seed and Offset Device]).
constexpr HostOutput host_outputs[] = {
    {"aten::_scaled_dot_product_efficient_attention", 2},
    {"aten::_scaled_dot_product_efficient_attention", 3},
    {"aten::_efficient_attention_forward", 2},
    {"aten::_efficient_attention_forward", 3},
};

// The mask, then the output (dropout_cuda in native/cuda/Dropout.cu).
constexpr std::string_view backward_makers[] = {"aten::native_dropout", "aten::_fused_dropout"};

}  // namespace

bool output_is_on_host(std::string_view op, std::size_t index) {
  return std::any_of(std::begin(host_outputs), std::end(host_outputs),
                     [&](const HostOutput& row) { return row.op == op && row.index == index; });
}

bool makes_outputs_backwards(std::string_view op) {
  return std::ranges::find(backward_makers, op) != std::end(backward_makers);
}

}  // namespace symprof::meta
