// com.microsoft: packed sequences without padding, [tokens, hidden], and attention within each
// sequence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "shape/lowering/contrib/heads.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// Token positions in a padded batch: token_offset [batch, sequence] lists the tokens' positions
/// first, then the padding's.
struct Packing {
  at::Tensor offsets, ends;  ///< [batch x sequence], and cumulative lengths [batch + 1].
  std::int64_t batch, sequence;
};

Packing packing_of(const OnnxCall& call, std::size_t offset, std::size_t ends) {
  const at::Tensor& like = call.input(0);
  const at::Tensor offsets = to_device_of(call.input(offset), like);
  if (offsets.dim() != 2) call.fail("a token_offset that is not [batch, sequence]");
  return {offsets.reshape({-1}), to_device_of(call.input(ends), like), offsets.size(0),
          offsets.size(1)};
}

/// [tokens, hidden] to [batch, sequence, hidden], padded with zeros.
at::Tensor padded(const at::Tensor& tokens, const Packing& packing) {
  const at::Tensor places = at::slice(packing.offsets, 0, 0, tokens.size(0)).to(at::kLong);
  const at::Tensor all =
      at::zeros({packing.batch * packing.sequence, tokens.size(1)}, tokens.options());
  return at::index_copy(all, 0, places, tokens)
      .reshape({packing.batch, packing.sequence, tokens.size(1)});
}

at::Tensor without_padding(const at::Tensor& x, const Packing& packing, std::int64_t tokens) {
  return at::index_select(x.flatten(0, 1), 0, at::slice(packing.offsets, 0, 0, tokens));
}

/// Computes padded sequences with a key mask: an upper bound for the variable-length kernels.
at::Tensor attend_packed(const OnnxCall& call, const Tensors& parts, const Packing& packing,
                         std::size_t added) {
  const std::int64_t heads = call.integer("num_heads", 0), tokens = parts[0].size(0);
  const auto heads_of = [&](const at::Tensor& x) {
    return to_heads(call, padded(x, packing), heads);
  };
  Attention attention{heads_of(parts[0]),   heads_of(parts[1]), heads_of(parts[2]), {}, false,
                      attention_scale(call)};
  const at::Tensor& q = attention.q;
  const at::Tensor lengths =
      at::sub(at::slice(packing.ends, 0, 1), at::slice(packing.ends, 0, 0, -1));
  const at::Tensor key = at::arange(packing.sequence, at::device(q.device()).dtype(at::kLong));
  const at::Tensor hidden = at::ge(key, lengths.reshape({-1, 1, 1, 1}));
  attention.added = at::zeros(hidden.sizes(), q.options())
                        .masked_fill(hidden, call.real("mask_filter_value", -10000.0));
  if (call.has(added))
    attention.added = at::add(to_device_of(call.input(added), q), attention.added);
  return without_padding(from_heads(attend(attention)), packing, tokens);
}

Tensors packed_attention(OnnxCall& call) {
  const at::Tensor projected = at::linear(call.input(0), call.input(1).t(), call.optional_input(2));
  const Tensors parts = split_projection(call, projected);
  return {attend_packed(call, parts, packing_of(call, 3, 4), 5)};
}

/// Queries [tokens, hidden], or packed queries, keys and values [tokens, heads, 3, size].
Tensors packed_multi_head(OnnxCall& call) {
  const at::Tensor& query = call.input(0);
  Tensors parts;
  if (call.has(1)) {
    parts = {query, call.input(1), call.input(2)};
  } else if (query.dim() == 4 && query.size(2) == 3) {
    for (const std::int64_t i : {0, 1, 2}) parts.push_back(at::select(query, 2, i).flatten(1));
  } else {
    call.fail(fmt::format("no key, and a query [{}]", fmt::join(query.sizes(), ", ")),
              "Wanted: a key, or [tokens, heads, 3, size].");
  }
  std::int64_t begin = 0;
  for (at::Tensor& part : parts) {
    const std::int64_t end = begin + part.size(1);
    if (call.has(3)) part = at::add(part, at::slice(call.input(3), 0, begin, end));
    begin = end;
  }
  return {attend_packed(call, parts, packing_of(call, 4, 5), 6)};
}

/// Limit, as positions are enumerated on the host.
constexpr std::int64_t most_places = 100'000'000;

/// The lengths have to be known, as the number of tokens determines the shape.
Tensors remove_padding(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers lengths = call.integers_of(1);
  if (x.dim() != 3 || static_cast<std::int64_t>(lengths.size()) != x.size(0))
    call.fail(fmt::format("{} lengths for [{}]", lengths.size(), fmt::join(x.sizes(), ", ")));
  for (const std::int64_t length : lengths)
    if (length < 0 || length > x.size(1))
      call.fail(fmt::format("a length of {} for a sequence of {}", length, x.size(1)));
  if (x.size(0) * x.size(1) > most_places)
    call.fail(fmt::format("{} sequences of {}", x.size(0), x.size(1)),
              fmt::format("Wanted: {} places or fewer.", most_places));
  Integers tokens, padding, ends{0};
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const std::int64_t length = lengths[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < x.size(1); ++j)
      (j < length ? tokens : padding).push_back(i * x.size(1) + j);
    ends.push_back(ends.back() + length);
  }
  const at::Tensor rows = to_device_of(host_integers(tokens), x);
  const at::Tensor y = at::index_select(x.flatten(0, 1), 0, rows);
  const at::Tensor offsets =
      at::cat({host_integers(tokens), host_integers(padding)}).reshape({x.size(0), x.size(1)});
  const std::int64_t longest =
      lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  return {y, offsets.to(at::kInt), host_integers(ends).to(at::kInt),
          host_integers({longest}).to(at::kInt)};
}

Tensors restore_padding(OnnxCall& call) {
  const at::Tensor& tokens = call.input(0);
  const at::Tensor offsets = to_device_of(call.input(1), tokens);
  if (offsets.dim() != 2) call.fail("a token_offset that is not [batch, sequence]");
  return {padded(tokens, {offsets.reshape({-1}), {}, offsets.size(0), offsets.size(1)})};
}

constexpr Lowering packed_rows[] = {
    {"com.microsoft::PackedAttention", packed_attention},
    {"com.microsoft::PackedMultiHeadAttention", packed_multi_head},
    {"com.microsoft::RemovePadding", remove_padding},
    {"com.microsoft::RestorePadding", restore_padding},
};

}  // namespace

Lowerings microsoft_packed_lowerings() { return packed_rows; }

}  // namespace symprof::lowering
