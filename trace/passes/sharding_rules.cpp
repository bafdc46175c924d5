#include "trace/passes/sharding_rules.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

using Dimension64 = std::optional<std::int64_t>;

/// A node, and the sharding of its operands.
struct SharedCall {
  Node& node;
  const ValueSpecs& specs;
  const SharedDimensions& shared;
  std::int64_t ranks;

  const TensorSpec* spec(ValueId id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= specs.size()) return nullptr;
    const auto& found = specs[static_cast<std::size_t>(id)];
    return found ? &*found : nullptr;
  }
  Dimension64 dimension(ValueId id) const {
    const auto found = shared.find(id);
    return found == shared.end() ? Dimension64() : Dimension64(found->second);
  }
  std::int64_t rank_of(ValueId id) const {
    const TensorSpec* found = spec(id);
    return found == nullptr ? 0 : static_cast<std::int64_t>(found->sizes.size());
  }
  ValueId first() const { return operand(node, 0); }
  Dimension64 of_first() const { return dimension(first()); }
  /// A dimension that an argument names, counted from the front.
  std::int64_t named(std::string_view name, std::size_t position, std::int64_t otherwise) const {
    const auto* given = argument_as<std::int64_t>(find_argument(node, name, position));
    const std::int64_t value = given == nullptr ? otherwise : *given;
    return value < 0 ? value + rank_of(first()) : value;
  }
  const std::vector<std::int64_t>* list(std::string_view name, std::size_t position) const {
    return argument_as<std::vector<std::int64_t>>(find_argument(node, name, position));
  }
};

Dimension64 keep(const SharedCall& call) { return call.of_first(); }

/// Broadcasting aligns dimensions at the end; an operand that is not sharded has size 1 in the
/// sharded dimension, or lacks it.
Dimension64 pointwise(const SharedCall& call) {
  std::int64_t rank = 0;
  for_each_value(call.node, [&](ValueId id) { rank = std::max(rank, call.rank_of(id)); });
  Dimension64 result;
  bool fits = true;
  for_each_value(call.node, [&](ValueId id) {
    const Dimension64 own = call.dimension(id);
    if (!own) return;
    const std::int64_t aligned = *own + rank - call.rank_of(id);
    fits = fits && (!result || *result == aligned);
    result = aligned;
  });
  for_each_value(call.node, [&](ValueId id) {
    const TensorSpec* spec = call.spec(id);
    if (call.dimension(id) || spec == nullptr || !result) return;
    const std::int64_t place = *result - (rank - call.rank_of(id));
    fits = fits && (place < 0 || spec->sizes[static_cast<std::size_t>(place)] == 1);
  });
  return fits ? result : Dimension64();
}

Dimension64 transpose(const SharedCall& call) {
  const std::int64_t a = call.named("dim0", 1, 0), b = call.named("dim1", 2, 1);
  const std::int64_t own = *call.of_first();
  return own == a ? b : own == b ? a : own;
}

Dimension64 permute(const SharedCall& call) {
  const auto* order = call.list("dims", 1);
  if (order == nullptr) return {};
  for (std::size_t i = 0; i < order->size(); ++i) {
    const std::int64_t from =
        (*order)[i] < 0 ? (*order)[i] + call.rank_of(call.first()) : (*order)[i];
    if (from == *call.of_first()) return static_cast<std::int64_t>(i);
  }
  return {};
}

std::int64_t product_before(const std::vector<std::int64_t>& sizes, std::int64_t place) {
  std::int64_t product = 1;
  for (std::int64_t i = 0; i < place; ++i) product *= sizes[static_cast<std::size_t>(i)];
  return product;
}

/// The dimension of `to` that begins where dimension `own` of `from` does, and holds the outermost
/// part of it, which the ranks have to divide, or all of it.
Dimension64 same_beginning(const std::vector<std::int64_t>& from, std::int64_t own,
                           const std::vector<std::int64_t>& to, std::int64_t ranks) {
  const std::int64_t before = product_before(from, own);
  const std::int64_t all = from[static_cast<std::size_t>(own)];
  for (std::size_t i = 0; i < to.size(); ++i)
    if (product_before(to, static_cast<std::int64_t>(i)) == before && to[i] > 1 &&
        (to[i] % ranks == 0 || to[i] == all))
      return static_cast<std::int64_t>(i);
  return {};
}

Dimension64 reshape(const SharedCall& call) {
  const TensorSpec* from = call.spec(call.first());
  const TensorSpec* to = call.node.outputs.empty() ? nullptr : call.spec(call.node.outputs[0]);
  if (from == nullptr || to == nullptr) return {};
  const Dimension64 place = same_beginning(from->sizes, *call.of_first(), to->sizes, call.ranks);
  if (!place) return {};
  for (const char* name : {"size", "shape", "sizes"}) {
    Argument* argument = find_argument(call.node, name);
    if (argument == nullptr) continue;
    auto* sizes = std::get_if<std::vector<std::int64_t>>(&argument->value);
    if (sizes == nullptr) return {};
    if (call.node.op == "aten::unflatten") continue;
    std::int64_t& size = (*sizes)[static_cast<std::size_t>(*place)];
    if (size > 1) size = (size + call.ranks - 1) / call.ranks;
  }
  return place;
}

/// Of the last dimensions, which are whole.
Dimension64 normalization(const SharedCall& call) {
  const auto* shape = call.list("normalized_shape", 1);
  if (shape == nullptr) return {};
  const auto whole = static_cast<std::int64_t>(shape->size());
  return *call.of_first() < call.rank_of(call.first()) - whole ? call.of_first() : Dimension64();
}

/// Along one dimension, which is whole.
Dimension64 along_another(const SharedCall& call) {
  return call.named("dim", 1, -1) != *call.of_first() ? call.of_first() : Dimension64();
}

/// Over dimensions that are whole.
Dimension64 reduction(const SharedCall& call) {
  const auto* dims = call.list("dim", 1);
  if (dims == nullptr) return {};
  const auto* keep_dims = argument_as<bool>(find_argument(call.node, "keepdim", 2));
  std::int64_t before = 0;
  for (const std::int64_t dim : *dims) {
    const std::int64_t from_front = dim < 0 ? dim + call.rank_of(call.first()) : dim;
    if (from_front == *call.of_first()) return {};
    before += from_front < *call.of_first() ? 1 : 0;
  }
  return keep_dims != nullptr && *keep_dims ? *call.of_first() : *call.of_first() - before;
}

/// Elements of the shared dimension are repeated on the rank that has them.
Dimension64 repeat(const SharedCall& call) {
  const bool is_same_for_all =
      argument_as<std::int64_t>(find_argument(call.node, "repeats", 1)) != nullptr;
  const bool names_dimension = find_argument(call.node, "dim", 2) != nullptr;
  return is_same_for_all && names_dimension ? call.of_first() : Dimension64();
}

Dimension64 select(const SharedCall& call) {
  const std::int64_t dim = call.named("dim", 1, 0), own = *call.of_first();
  if (dim == own) return {};
  return own > dim ? own - 1 : own;
}

Dimension64 unsqueeze(const SharedCall& call) {
  const auto* given = argument_as<std::int64_t>(find_argument(call.node, "dim", 1));
  if (given == nullptr) return {};
  const std::int64_t dim = *given < 0 ? *given + call.rank_of(call.first()) + 1 : *given;
  return *call.of_first() >= dim ? *call.of_first() + 1 : *call.of_first();
}

/// Whole sequences and heads: of all three the same dimension before them.
Dimension64 attention(const SharedCall& call) {
  const Dimension64 own = call.of_first();
  if (!own || *own >= call.rank_of(call.first()) - 2) return {};
  for (std::size_t i = 1; i < 3; ++i)
    if (call.dimension(operand(call.node, i)) != own) return {};
  const ValueId mask = value_of(find_argument(call.node, "attn_mask", 3));
  if (const TensorSpec* spec = call.spec(mask)) {
    const std::int64_t place =
        *own - call.rank_of(call.first()) + static_cast<std::int64_t>(spec->sizes.size());
    if (place >= 0 && spec->sizes[static_cast<std::size_t>(place)] != 1) return {};
  }
  return own;
}

/// Matrices of a shared batch.
Dimension64 batched_product(const SharedCall& call) {
  const Dimension64 own = call.of_first();
  const ValueId second = operand(call.node, 1);
  if (!own || *own >= call.rank_of(call.first()) - 2) return {};
  return call.dimension(second) == own && call.rank_of(second) == call.rank_of(call.first())
             ? own
             : Dimension64();
}

/// With a whole weight: all but the features.
Dimension64 linear(const SharedCall& call) {
  const Dimension64 own = call.of_first();
  return own && *own < call.rank_of(call.first()) - 1 ? own : Dimension64();
}

/// Several tensors that are shared alike, along a dimension that is whole.
Dimension64 concatenation(const SharedCall& call) {
  Dimension64 result;
  bool fits = true;
  for_each_value(call.node, [&](ValueId id) {
    const Dimension64 own = call.dimension(id);
    fits = fits && own && (!result || *result == *own);
    result = own;
  });
  if (!fits || !result || call.node.outputs.empty()) return {};
  const auto* given = argument_as<std::int64_t>(find_argument(call.node, "dim", 1));
  const std::int64_t dim = given == nullptr ? 0 : *given;
  const std::int64_t from_front = dim < 0 ? dim + call.rank_of(call.node.outputs[0]) : dim;
  return from_front == *result ? Dimension64() : result;
}

struct ShardingRule {
  std::string_view op;
  Dimension64 (*output)(const SharedCall&);
};

constexpr ShardingRule sharding_rules[] = {
    {"aten::silu", keep},
    {"aten::gelu", keep},
    {"aten::relu", keep},
    {"aten::tanh", keep},
    {"aten::sigmoid", keep},
    {"aten::neg", keep},
    {"aten::pow", keep},
    {"aten::rsqrt", keep},
    {"aten::dropout", keep},
    {"aten::clone", keep},
    {"aten::contiguous", keep},
    {"aten::to", keep},
    {"aten::_to_copy", keep},
    {"aten::alias", keep},
    {"aten::repeat_interleave", repeat},
    {"aten::add", pointwise},
    {"aten::sub", pointwise},
    {"aten::mul", pointwise},
    {"aten::div", pointwise},
    {"aten::where", pointwise},
    {"aten::masked_fill", pointwise},
    {"aten::transpose", transpose},
    {"aten::permute", permute},
    {"aten::view", reshape},
    {"aten::reshape", reshape},
    {"aten::_unsafe_view", reshape},
    {"aten::flatten", reshape},
    {"aten::rms_norm", normalization},
    {"aten::layer_norm", normalization},
    {"aten::softmax", along_another},
    {"aten::slice", along_another},
    {"aten::mean", reduction},
    {"aten::sum", reduction},
    {"aten::select", select},
    {"aten::unsqueeze", unsqueeze},
    {"aten::scaled_dot_product_attention", attention},
    {"aten::matmul", batched_product},
    {"aten::bmm", batched_product},
    {"aten::linear", linear},
    {"aten::cat", concatenation},
};

}  // namespace

std::optional<std::int64_t> shared_output(Node& node, const ValueSpecs& specs,
                                          const SharedDimensions& shared, std::int64_t ranks) {
  const auto* rule = std::ranges::find(sharding_rules, node.op, &ShardingRule::op);
  if (rule == std::end(sharding_rules)) return {};
  const SharedCall call{node, specs, shared, ranks};
  const bool reads_all = rule->output == pointwise || rule->output == concatenation;
  if (!reads_all && !call.of_first()) return {};
  return rule->output(call);
}

}  // namespace symprof::trace
