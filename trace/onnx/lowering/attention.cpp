// Attention and rotary embedding of opset 23.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "trace/onnx/lowering/families.h"
#include "trace/onnx/lowering/operands.h"

namespace symprof::trace::onnx {
namespace {

/// [batch, sequence, heads · size] to [batch, heads, sequence, size]; four dimensions stay.
at::Tensor split_heads(const OnnxCall& call, const at::Tensor& x, std::int64_t heads) {
  if (x.dim() == 4) return x;
  if (x.dim() != 3 || heads < 1 || x.size(2) % heads != 0)
    call.fail(fmt::format("[{}] with {} heads", fmt::join(x.sizes(), ", "), heads),
              "Wanted: [batch, heads, sequence, size], or [batch, sequence, heads x size] with the "
              "number of heads.");
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor merge_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// softmax(softcap(scale · Q · Kᵀ) + mask) · V in single steps: PyTorch has no soft cap.
at::Tensor attend_with_softcap(const OnnxCall& call, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v, const std::optional<at::Tensor>& mask,
                               double scale, double cap) {
  if (q.size(1) != k.size(1) || call.is_set("is_causal") ||
      (mask && mask->scalar_type() == at::kBool))
    call.fail("softcap with grouped heads, a causal or a boolean mask is not supported");
  at::Tensor scores = at::mul(at::matmul(q, k.transpose(-2, -1)), scale);
  scores = at::mul(at::tanh(at::div(scores, cap)), cap);
  if (mask) scores = at::add(scores, *mask);
  return at::matmul(at::softmax(scores, -1), v);
}

/// PyTorch's causal mask starts at the first key and excludes another mask. With past keys ONNX
/// lets a query see all of them, so that the mask is written out: [queries, keys].
at::Tensor with_causal_mask(const at::Tensor& q, std::int64_t keys, std::int64_t past,
                            const std::optional<at::Tensor>& mask) {
  const auto options = at::device(q.device()).dtype(at::kBool);
  const at::Tensor visible = at::tril(at::ones({q.size(2), keys}, options), past);
  if (!mask) return visible;
  if (mask->scalar_type() == at::kBool) return at::logical_and(*mask, visible);
  return at::masked_fill(*mask, at::logical_not(visible), -std::numeric_limits<double>::infinity());
}

/// Attributes and inputs that PyTorch's attention has no argument for.
void check_supported(const OnnxCall& call) {
  if (call.wants_output(3)) call.fail("the output qk_matmul_output is not supported");
  if (call.has(6)) call.fail("the input nonpad_kv_seqlen is not supported");
  if (call.integer("left_window_size", -1) != -1 || call.integer("right_window_size", -1) != -1)
    call.fail("a local window is not supported", "Give the window as a mask.");
}

Tensors attention(OnnxCall& call) {
  check_supported(call);
  const std::int64_t q_heads = call.integer("q_num_heads", 0);
  const std::int64_t kv_heads = call.integer("kv_num_heads", q_heads);
  const at::Tensor q = split_heads(call, call.input(0), q_heads);
  at::Tensor k = split_heads(call, call.input(1), kv_heads);
  at::Tensor v = split_heads(call, call.input(2), kv_heads);
  if (call.has(4)) k = at::cat({call.input(4), k}, 2);
  if (call.has(5)) v = at::cat({call.input(5), v}, 2);
  std::optional<at::Tensor> mask;
  if (call.has(3)) mask = to_device_of(call.input(3), q);
  bool causal = call.is_set("is_causal");
  const std::int64_t past = call.has(4) ? call.input(4).size(2) : 0;
  if (causal && (mask || past > 0)) {
    mask = with_causal_mask(q, k.size(2), past, mask);
    causal = false;
  }
  const double scale = call.real("scale", 0.0), cap = call.real("softcap", 0.0);
  const auto given_scale = scale == 0.0 ? std::nullopt : std::optional(scale);
  const at::Tensor y =
      cap == 0.0 ? at::scaled_dot_product_attention(q, k, v, mask, /*dropout_p=*/0.0, causal,
                                                    given_scale, q.size(1) != k.size(1))
                 : attend_with_softcap(
                       call, q, k, v, mask,
                       given_scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(3)))), cap);
  return {call.input(0).dim() == 3 ? merge_heads(y) : y, k, v};
}

/// Halves (or, interleaved, even and odd elements) of the first `size` elements are rotated:
/// x1 cos - x2 sin and x2 cos + x1 sin. Caches are [positions, size / 2], or [batch, sequence,
/// size / 2] without position ids.
Tensors rotary_embedding(OnnxCall& call) {
  const at::Tensor x = split_heads(call, call.input(0), call.integer("num_heads", 0));
  const std::int64_t given = call.integer("rotary_embedding_dim", 0);
  const std::int64_t size = given == 0 ? x.size(3) : given;
  at::Tensor cosine = call.input(1), sine = call.input(2);
  if (call.has(3)) {
    const at::Tensor positions = to_device_of(call.input(3), cosine);
    cosine = at::embedding(cosine, positions), sine = at::embedding(sine, positions);
  }
  cosine = to_device_of(cosine, x).unsqueeze(1), sine = to_device_of(sine, x).unsqueeze(1);
  const at::Tensor rotated = at::slice(x, 3, 0, size);
  const bool interleaved = call.is_set("interleaved");
  const at::Tensor first =
      interleaved ? at::slice(rotated, 3, 0, size, 2) : at::slice(rotated, 3, 0, size / 2);
  const at::Tensor second =
      interleaved ? at::slice(rotated, 3, 1, size, 2) : at::slice(rotated, 3, size / 2, size);
  const at::Tensor real = at::sub(at::mul(first, cosine), at::mul(second, sine));
  const at::Tensor imaginary = at::add(at::mul(first, sine), at::mul(second, cosine));
  at::Tensor y =
      interleaved ? at::stack({real, imaginary}, -1).flatten(3) : at::cat({real, imaginary}, 3);
  if (size < x.size(3)) y = at::cat({y, at::slice(x, 3, size)}, 3);
  return {call.input(0).dim() == 3 ? merge_heads(y) : y};
}

constexpr Lowering rows[] = {
    {"onnx::Attention", attention},
    {"onnx::RotaryEmbedding", rotary_embedding},
};

}  // namespace

Lowerings attention_lowerings() { return rows; }

}  // namespace symprof::trace::onnx
