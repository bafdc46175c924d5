#include "shape/lowering/contrib/heads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// The lowest finite number of a floating-point dtype (numeric_limits<T>::lowest()).
double lowest(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return std::numeric_limits<c10::Half>::lowest();
    case at::kBFloat16:
      return std::numeric_limits<c10::BFloat16>::lowest();
    default:
      return std::numeric_limits<float>::lowest();
  }
}

/// Mask from a 1-dimensional operand: lengths [batch]; ends and starts [2 x batch]; or lengths and
/// offsets [3 x batch + 2], of which only the lengths are used.
at::Tensor within_lengths(const at::Tensor& mask, std::int64_t batch, const at::Tensor& key) {
  const auto column = [&](std::int64_t first) {
    return at::slice(mask, 0, first, first + batch).reshape({batch, 1, 1, 1});
  };
  const at::Tensor shown = at::lt(key, column(0));
  if (mask.size(0) != 2 * batch) return shown;
  return at::logical_and(shown, at::ge(key, column(batch)));
}

/// Mask of the visible keys, which broadcasts with [batch, heads, queries, keys]. Undefined if all
/// are visible.
at::Tensor shown_keys(const OnnxCall& call, const at::Tensor& q, std::int64_t keys,
                      std::size_t input) {
  const at::Tensor mask = to_device_of(call.input(input), q);
  const std::int64_t batch = q.size(0), queries = q.size(2);
  const auto is = [&](at::IntArrayRef sizes) { return mask.sizes() == sizes; };
  if (is({batch}) || is({2 * batch}) || is({3 * batch + 2}))
    return within_lengths(mask, batch, at::arange(keys, at::device(q.device()).dtype(at::kLong)));
  if (is({batch, keys})) return at::gt(mask, 0).reshape({batch, 1, 1, keys});
  if (is({batch, 1}) || is({1, 1})) return {};
  if (is({batch, queries, keys})) return at::gt(mask, 0).unsqueeze(1);
  if (mask.dim() == 4 && mask.size(2) >= keys && mask.size(3) >= keys)
    return at::gt(at::slice(at::slice(mask, 2, keys - queries, keys), 3, 0, keys), 0);
  call.fail(fmt::format("a mask [{}] for {} queries and {} keys of a batch of {}",
                        fmt::join(mask.sizes(), ", "), queries, keys, batch),
            "Wanted: [batch], [2 x batch], [batch, keys], [batch, queries, keys] or [batch, 1, "
            "longest, longest].");
}

}  // namespace

at::Tensor to_heads(const OnnxCall& call, const at::Tensor& x, std::int64_t heads) {
  if (x.dim() != 3 || heads < 1 || x.size(2) % heads != 0)
    call.fail(fmt::format("[{}] with {} heads", fmt::join(x.sizes(), ", "), heads),
              "Wanted: [batch, sequence, heads x size].");
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

Tensors split_projection(const OnnxCall& call, const at::Tensor& projected) {
  const std::int64_t width = projected.size(-1), third = width / 3;
  const Integers sizes = call.integers("qkv_hidden_sizes").value_or(Integers{third, third, third});
  const bool fits = std::all_of(sizes.begin(), sizes.end(),
                                [&](std::int64_t size) { return size >= 0 && size <= width; });
  if (sizes.size() != 3 || !fits || sizes[0] + sizes[1] + sizes[2] != width)
    call.fail(
        fmt::format("qkv_hidden_sizes [{}] of a projection to {}", fmt::join(sizes, ", "), width));
  return at::split_with_sizes(projected, sizes, -1);
}

at::Tensor from_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

Cached extend(const OnnxCall& call, const at::Tensor& past, const at::Tensor& fresh,
              std::optional<std::int64_t> length) {
  if (!past.defined()) return {fresh, fresh};
  if (past.dim() != 4 || past.size(0) != fresh.size(0) || past.size(1) != fresh.size(1) ||
      past.size(3) != fresh.size(3))
    call.fail(fmt::format("a past [{}] for keys or values [{}]", fmt::join(past.sizes(), ", "),
                          fmt::join(fresh.sizes(), ", ")),
              "Wanted: [batch, heads, sequence, size], different in the sequence only.");
  if (!length) {
    const at::Tensor all = at::cat({past, fresh}, 2);
    return {all, all};
  }
  if (*length < 0 || *length > past.size(2) - fresh.size(2))
    call.fail(fmt::format("{} positions behind {} of a cache of {}", fresh.size(2), *length,
                          past.size(2)));
  const std::int64_t end = *length + fresh.size(2);
  const at::Tensor present = at::slice_scatter(past, fresh, 2, *length, end);
  return {at::slice(present, 2, 0, end), present};
}

at::Tensor additive_mask(const OnnxCall& call, const at::Tensor& q, std::int64_t keys,
                         std::size_t mask, bool causal) {
  at::Tensor added;
  if (call.has(mask))
    if (const at::Tensor shown = shown_keys(call, q, keys, mask); shown.defined())
      added = at::zeros(shown.sizes(), q.options())
                  .masked_fill(at::logical_not(shown), call.real("mask_filter_value", -10000.0));
  const std::int64_t queries = q.size(2);
  if (!causal || queries == 1) return added;
  const auto options = at::device(q.device()).dtype(at::kLong);
  const at::Tensor position = at::arange(keys - queries, keys, options).unsqueeze(1);
  const at::Tensor later = at::gt(at::arange(keys, options), position);
  if (!added.defined()) added = at::zeros({queries, keys}, q.options());
  return added.masked_fill(later, lowest(q.scalar_type()));
}

at::Tensor attend(const Attention& attention) {
  std::optional<at::Tensor> added;
  if (attention.added.defined()) added = attention.added;
  return at::scaled_dot_product_attention(attention.q, attention.k, attention.v, added,
                                          /*dropout_p=*/0.0, attention.causal, attention.scale,
                                          attention.q.size(1) != attention.k.size(1));
}

at::Tensor scores_of(const Attention& attention, double softcap) {
  const auto& [q, k, v, added, causal, scale] = attention;
  const std::int64_t groups = q.size(1) / std::max<std::int64_t>(k.size(1), 1);
  const at::Tensor key = groups > 1 ? k.repeat_interleave(groups, 1) : k;
  const double factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(3))));
  at::Tensor scores = at::mul(at::matmul(q, key.transpose(-2, -1)), factor);
  if (softcap > 0) scores = at::mul(at::tanh(at::div(scores, softcap)), softcap);
  return added.defined() ? at::add(scores, added) : scores;
}

std::optional<double> attention_scale(const OnnxCall& call) {
  const double given = call.real("scale", 0.0);
  return given == 0.0 ? std::nullopt : std::optional(given);
}

}  // namespace symprof::lowering
