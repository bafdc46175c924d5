// com.microsoft: mixture of experts. As in transformers' grouped experts, tokens are sorted by
// expert and each layer is one grouped product: the cost does not depend on the routing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

// Inputs.
constexpr std::size_t input = 0, router = 1, first_weight = 2, first_bias = 3, second_weight = 4,
                      second_bias = 5, third_weight = 6, third_bias = 7;

/// The assignment of tokens to experts. A row is one token at one expert: every token has k rows,
/// and rows are sorted by expert.
struct Routing {
  at::Tensor experts, tokens;  ///< By row, [tokens x k].
  at::Tensor weights;          ///< By row: its weight in the token's sum, [tokens x k, 1].
  at::Tensor ends;             ///< By expert: one past its last row.
};

Routing route(const OnnxCall& call, const at::Tensor& logits) {
  const std::int64_t k = call.integer("k", 1), experts = logits.size(-1);
  if (k < 1 || k > experts) call.fail(fmt::format("{} of {} experts", k, experts));
  auto [weights, chosen] = at::topk(at::softmax(logits, -1), k);
  if (call.is_set("normalize_routing_weights"))
    weights = at::div(weights, at::sum(weights, Integers{-1}, /*keepdim=*/true));
  const at::Tensor flat = chosen.reshape({-1});
  const at::Tensor order = at::argsort(flat, /*stable=*/true, /*dim=*/0);
  const at::Tensor index = at::arange(experts, flat.options());
  const at::Tensor ends = at::sum(at::le(flat.unsqueeze(1), index), Integers{0},
                                  /*keepdim=*/false, at::kInt);
  return {at::index_select(flat, 0, order), at::div(order, k, "floor"),
          at::index_select(weights.reshape({-1, 1}), 0, order), ends};
}

/// rows x their expert's weights [experts, outputs, inputs], plus the bias.
at::Tensor layer(const OnnxCall& call, const at::Tensor& rows, const Routing& routing,
                 std::size_t weight, std::size_t bias) {
  const at::Tensor given = to_device_of(call.input(weight), rows);
  const std::int64_t experts = routing.ends.size(0);
  if (given.dim() != 3 || given.size(0) != experts || given.size(2) != rows.size(1))
    call.fail(fmt::format("weights [{}] of {} experts for rows of {}",
                          fmt::join(given.sizes(), ", "), experts, rows.size(1)),
              "Wanted: [experts, outputs, inputs].");
  const at::Tensor y = at::_grouped_mm(rows, given.transpose(1, 2), routing.ends);
  if (!call.has(bias)) return y;
  return at::add(y, at::index_select(to_device_of(call.input(bias), rows), 0, routing.experts));
}

/// G · sigmoid(alpha G) · (L + beta), with G and L clamped if the node has a limit.
at::Tensor swiglu(const OnnxCall& call, at::Tensor gate, at::Tensor linear) {
  const double alpha = call.real("activation_alpha", 1.0), beta = call.real("activation_beta", 0.0);
  if (const double limit = call.real("swiglu_limit", 0.0); limit > 0) {
    gate = at::clamp_max(gate, limit);
    linear = at::clamp(linear, -limit, limit);
  }
  const at::Tensor open =
      alpha == 1.0 ? at::silu(gate) : at::mul(gate, at::sigmoid(at::mul(gate, alpha)));
  return at::mul(open, beta == 0.0 ? linear : at::add(linear, beta));
}

at::Tensor expert_activated(const OnnxCall& call, const at::Tensor& x) {
  const std::string name = call.text("activation_type", "relu");
  if (name == "relu") return at::relu(x);
  if (name == "gelu") return at::gelu(x, "tanh");
  if (name == "silu") return at::silu(x);
  if (name == "identity") return x;
  call.fail("the activation '" + name + "'", "Wanted: relu, gelu, silu, swiglu or identity.");
}

/// The layers before the last one.
at::Tensor hidden_of(const OnnxCall& call, const at::Tensor& rows, const Routing& routing) {
  const at::Tensor first = layer(call, rows, routing, first_weight, first_bias);
  const bool gated = call.text("activation_type", "relu") == "swiglu";
  const std::int64_t fusion = call.integer("swiglu_fusion", 0);
  if (gated && fusion == 1)
    return swiglu(call, at::slice(first, 1, 0, std::nullopt, 2),
                  at::slice(first, 1, 1, std::nullopt, 2));
  if (gated && fusion == 2) {
    const auto halves = at::chunk(first, 2, 1);
    return swiglu(call, halves[0], halves[1]);
  }
  if (!call.has(third_weight)) {
    if (gated) call.fail("swiglu with one layer that is not fused", "Give fc3_experts_weights.");
    return expert_activated(call, first);
  }
  const at::Tensor third = layer(call, rows, routing, third_weight, third_bias);
  return gated ? swiglu(call, first, third) : at::mul(expert_activated(call, first), third);
}

Tensors mixture_of_experts(OnnxCall& call) {
  if (call.is_set("use_sparse_mixer")) call.fail("use_sparse_mixer is not supported");
  const at::Tensor& x = call.input(input);
  const at::Tensor tokens = x.reshape({-1, x.size(-1)});
  const Routing routing = route(call, to_device_of(call.input(router), x));
  const at::Tensor rows = at::index_select(tokens, 0, routing.tokens);
  const at::Tensor results =
      layer(call, hidden_of(call, rows, routing), routing, second_weight, second_bias);
  const at::Tensor weighted = at::mul(results, routing.weights);
  return {at::index_add(at::zeros_like(tokens), 0, routing.tokens, weighted).reshape(x.sizes())};
}

constexpr Lowering mixture_rows[] = {
    {"com.microsoft::MoE", mixture_of_experts},
};

}  // namespace

Lowerings microsoft_mixture_lowerings() { return mixture_rows; }

}  // namespace symprof::lowering
