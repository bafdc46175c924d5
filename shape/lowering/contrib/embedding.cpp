// com.microsoft: the embedding layer of BERT, and position biases of T5 and WavLM.
#include <fmt/format.h>

#include <cmath>

#include "shape/lowering/contrib/heads.h"
#include "shape/lowering/contrib/quantized.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

at::Tensor device_range(const at::Tensor& like, std::int64_t count) {
  return at::arange(count, at::device(like.device()).dtype(at::kLong));
}

/// Ids may be host tensors while the tables are on the device.
at::Tensor looked_up(const at::Tensor& table, const at::Tensor& ids) {
  return at::embedding(table, to_device_of(ids, table));
}

/// Position ids 0 … sequence - 1, the same for every sequence.
at::Tensor default_positions(const OnnxCall& call, const at::Tensor& table) {
  return device_range(table, call.input(0).size(1)).unsqueeze(0);
}

/// The number of unmasked tokens of each sequence; zero without a mask.
at::Tensor token_counts(const OnnxCall& call, std::size_t mask) {
  const at::Tensor& ids = call.input(0);
  if (!call.has(mask)) return at::zeros({ids.size(0)}, ids.options().dtype(at::kInt));
  return at::sum(at::eq(call.input(mask), 1), Integers{1}, /*keepdim=*/false, at::kInt);
}

/// Outputs: the norm, the token counts, and the sum before the norm.
Tensors embed_layer_norm(OnnxCall& call) {
  if (call.input(0).dim() != 2) call.fail("ids that are not [batch, sequence]");
  const at::Tensor& words = call.input(2);
  const at::Tensor& positions = call.input(3);
  at::Tensor sum = looked_up(words, call.input(0));
  if (call.has(1)) sum = at::add(sum, looked_up(call.input(4), call.input(1)));
  const at::Tensor places = call.has(8) ? call.input(8) : default_positions(call, positions);
  sum = at::add(sum, looked_up(positions, places));
  const at::Tensor y = at::layer_norm(sum, {sum.size(-1)}, call.input(5), call.input(6),
                                      call.real("epsilon", 1e-12));
  return {y, token_counts(call, 7), sum};
}

/// Dequantized rows of a quantized table.
at::Tensor dequantized_rows(const OnnxCall& call, const at::Tensor& ids,
                            const QuantizedPlaces& places) {
  Tensors operands = call.inputs;
  operands[places.value] = looked_up(call.input(places.value), ids);
  return dequantized({call.node, call.graph, operands, call.device}, places);
}

/// All tables and the norm's weights are 8-bit integers.
Tensors quantized_embed_layer_norm(OnnxCall& call) {
  if (call.input(0).dim() != 2) call.fail("ids that are not [batch, sequence]");
  at::Tensor sum = dequantized_rows(call, call.input(0), {2, 8, 13});
  const at::Tensor places = default_positions(call, call.input(3));
  sum = at::add(sum, dequantized_rows(call, places, {3, 9, 14}));
  if (call.has(1)) sum = at::add(sum, dequantized_rows(call, call.input(1), {4, 10, 15}));
  const at::Tensor weight = dequantized(call, {5, 11, 16}), bias = dequantized(call, {6, 12, 17});
  const at::Tensor y =
      at::layer_norm(sum, {sum.size(-1)}, weight, bias, call.real("epsilon", 1e-12));
  return {y, token_counts(call, 7)};
}

/// The bucket of each distance key - query (transformers, T5Attention._relative_position_bucket):
/// half of the buckets are exact, the others grow logarithmically up to `longest`.
at::Tensor buckets_of(at::Tensor distance, bool both_ways, std::int64_t buckets,
                      std::int64_t longest) {
  at::Tensor result = at::zeros_like(distance);
  if (both_ways) {
    buckets /= 2;
    result = at::mul(at::gt(distance, 0).to(at::kLong), buckets);
    distance = at::abs(distance);
  } else {
    distance = at::neg(at::clamp_max(distance, 0));
  }
  const std::int64_t exact = buckets / 2;
  const double width = std::log(static_cast<double>(longest) / static_cast<double>(exact));
  const at::Tensor logarithm = at::log(at::div(distance.to(at::kFloat), exact));
  const at::Tensor wide = at::add(
      at::mul(at::div(logarithm, width), static_cast<double>(buckets - exact)).to(at::kLong),
      exact);
  const at::Tensor far = at::clamp_max(wide, buckets - 1);
  return at::add(result, at::where(at::lt(distance, exact), distance, far));
}

/// bias_table [buckets, heads] to [1, heads, queries, keys].
Tensors relative_position_bias(OnnxCall& call) {
  const at::Tensor& table = call.input(0);
  const std::int64_t queries = call.integer_of(1), keys = call.integer_of(2);
  if (table.dim() != 2 || queries < 0 || keys < 0) call.fail("a bias_table that is no matrix");
  const at::Tensor distance =
      at::sub(device_range(table, keys), device_range(table, queries).unsqueeze(1));
  const at::Tensor bucket = buckets_of(distance, call.is_set("is_bidirectional"), table.size(0),
                                       call.integer("max_distance", 128));
  return {at::embedding(table, bucket).permute({2, 0, 1}).unsqueeze(0)};
}

/// Computed by the formulas of the operator's documentation: two gates per query weight the
/// position bias.
Tensors gated_relative_position_bias(OnnxCall& call) {
  if (call.has(6)) call.fail("packed tokens (token_offset) are not supported");
  const at::Tensor q =
      to_heads(call, at::add(call.input(0), call.input(1)), call.integer("num_heads", 0));
  const at::Tensor products = at::add(at::matmul(q, call.input(3)), call.input(4));
  const std::int64_t half = products.size(3) / 2;
  const at::Tensor sums =
      products.reshape({q.size(0), q.size(1), q.size(2), 2, half}).sum(Integers{-1});
  const auto gates = at::chunk(at::sigmoid(sums), 2, -1);
  const at::Tensor reset = at::sub(at::mul(gates[1], call.input(5)), 1.0);
  return {at::mul(at::add(at::mul(gates[0], reset), 2.0), call.input(2))};
}

constexpr Lowering embedding_rows[] = {
    {"com.microsoft::EmbedLayerNormalization", embed_layer_norm},
    {"com.microsoft::GatedRelativePositionBias", gated_relative_position_bias},
    {"com.microsoft::QEmbedLayerNormalization", quantized_embed_layer_norm},
    {"com.microsoft::RelativePositionBias", relative_position_bias},
};

}  // namespace

Lowerings microsoft_embedding_lowerings() { return embedding_rows; }

}  // namespace symprof::lowering
