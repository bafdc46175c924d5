// torch.nn.attention.varlen: attention over packed sequences of different lengths. Its operators
// are defined in PyTorch's Python code (torch/nn/attention/varlen.py).
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <optional>

#include "meta/kernels/allocation.h"
#include "meta/kernels/package_operators.h"

namespace symprof::kernels {
namespace varlen {
namespace {

using at::OptionalIntArrayRef;
using at::Tensor;
using std::optional;
using Three = std::tuple<Tensor, Tensor, Tensor>;

/// query [total, heads, width]; statistics [heads, total].
Three attention(const Tensor& query, const Tensor&, const Tensor&, const Tensor&,
                const optional<Tensor>&, int64_t, int64_t, bool, optional<double>,
                OptionalIntArrayRef, bool, const optional<Tensor>&, const optional<Tensor>&,
                optional<int64_t>) {
  TORCH_CHECK(query.dim() == 3, "_varlen_attn: found a query of ", query.dim(),
              " dimensions, wanted [total, heads, width]");
  return {at::empty_like(query), fresh({query.size(1), query.size(0)}, query, at::kFloat),
          fresh({2}, query, at::kUInt64)};
}

Tensor attention_out(Tensor&, const Tensor& query, const Tensor&, const Tensor&, const Tensor&,
                     const optional<Tensor>&, int64_t, int64_t, bool, optional<double>,
                     OptionalIntArrayRef, bool, const optional<Tensor>&, const optional<Tensor>&,
                     optional<int64_t>) {
  return fresh({query.size(1), query.size(0)}, query, at::kFloat);
}

Three attention_backward(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t,
                         int64_t, bool, const Tensor&, optional<double>, OptionalIntArrayRef) {
  return {at::empty_like(query), at::empty_like(key), at::empty_like(value)};
}

template <typename Kernel>
auto typed_operator(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Kernel>();
}

/// The arguments without gradients.
struct Rest {
  optional<Tensor> key_ends;
  int64_t longest_query, longest_key;
  bool is_causal;
  optional<double> scale;
  std::vector<int64_t> window;
  bool groups_heads;
  optional<Tensor> used_keys, blocks;
  optional<int64_t> splits;
};

struct Attention : torch::autograd::Function<Attention> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static Tensors forward(Context* context, const Tensor& query, const Tensor& key,
                         const Tensor& value, const Tensor& ends, const Rest& rest) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto [out, statistics, random] =
        typed_operator<decltype(attention)>("torch_attn::_varlen_attn")
            .call(query, key, value, ends, rest.key_ends, rest.longest_query, rest.longest_key,
                  rest.is_causal, rest.scale, at::IntArrayRef(rest.window), rest.groups_heads,
                  rest.used_keys, rest.blocks, rest.splits);
    context->save_for_backward(
        {query, key, value, ends, rest.key_ends.value_or(ends), out, statistics, random});
    context->mark_non_differentiable({random});
    auto& kept = context->saved_data;
    kept["longest"] = std::vector<int64_t>{rest.longest_query, rest.longest_key};
    kept["causal"] = rest.is_causal;
    kept["scale"] = rest.scale;
    kept["window"] = rest.window;
    return {out, statistics, random};
  }

  static Tensors backward(Context* context, const Tensors& gradients) {
    const Tensors saved = context->get_saved_variables();
    auto& kept = context->saved_data;
    const auto longest = kept["longest"].toIntVector(), window = kept["window"].toIntVector();
    auto [query, key, value] =
        typed_operator<decltype(attention_backward)>("torch_attn::_varlen_attn_backward")
            .call(gradients[0], saved[0], saved[1], saved[2], saved[5], saved[6], saved[3],
                  saved[4], longest[0], longest[1], kept["causal"].toBool(), saved[7],
                  kept["scale"].toOptional<double>(), at::IntArrayRef(window));
    return {query, key, value, Tensor(), Tensor()};
  }
};

Three attention_with_autograd(const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& ends, const optional<Tensor>& key_ends, int64_t max_q,
                              int64_t max_k, bool is_causal, optional<double> scale,
                              OptionalIntArrayRef window, bool groups_heads,
                              const optional<Tensor>& used_keys, const optional<Tensor>& blocks,
                              optional<int64_t> splits) {
  const std::vector<int64_t> sides = window ? window->vec() : std::vector<int64_t>{-1, -1};
  const auto made = Attention::apply(query, key, value, ends,
                                     Rest{key_ends, max_q, max_k, is_causal, scale, sides,
                                          groups_heads, used_keys, blocks, splits});
  return {made[0], made[1], made[2]};
}

constexpr const char* schemas[] = {
    "_varlen_attn(Tensor query, Tensor key, Tensor value, Tensor cu_seq_q, Tensor? cu_seq_k, "
    "int max_q, int max_k, bool is_causal=False, float? scale=None, int[]? window_size=None, "
    "bool enable_gqa=False, Tensor? seqused_k=None, Tensor? block_table=None, "
    "int? num_splits=None) -> (Tensor, Tensor, Tensor)",
    "_varlen_attn_out(Tensor(a!) out, Tensor query, Tensor key, Tensor value, Tensor cu_seq_q, "
    "Tensor? cu_seq_k, int max_q, int max_k, bool is_causal=False, float? scale=None, "
    "int[]? window_size=None, bool enable_gqa=False, Tensor? seqused_k=None, "
    "Tensor? block_table=None, int? num_splits=None) -> Tensor",
    "_varlen_attn_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, "
    "Tensor lse, Tensor cu_seq_q, Tensor cu_seq_k, int max_q, int max_k, bool is_causal, "
    "Tensor rng_state, float? scale=None, int[]? window_size=None) -> (Tensor, Tensor, Tensor)",
};

}  // namespace
}  // namespace varlen

std::vector<torch::Library> define_varlen_attention() {
  using namespace varlen;
  std::vector<torch::Library> libraries;
  libraries.push_back(library_of("torch_attn", torch::Library::FRAGMENT));
  for (const char* schema : schemas) libraries.back().def(schema);
  libraries.push_back(library_of("torch_attn", torch::Library::IMPL, c10::DispatchKey::Meta));
  libraries.back().impl("_varlen_attn", &attention);
  libraries.back().impl("_varlen_attn_out", &attention_out);
  libraries.back().impl("_varlen_attn_backward", &attention_backward);
  libraries.push_back(library_of("torch_attn", torch::Library::IMPL, c10::DispatchKey::Autograd));
  libraries.back().impl("_varlen_attn", &attention_with_autograd);
  return libraries;
}

}  // namespace symprof::kernels
