// Classical machine learning: bags of words and trees (ai.onnx.ml), computed with tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/real_tensor.h"

namespace symprof::lowering {
namespace {

Integers required(const OnnxCall& call, std::string_view attribute) {
  auto values = call.integers(attribute);
  if (!values) call.fail(fmt::format("no attribute '{}'", attribute));
  return std::move(*values);
}

/// Limit for vocabulary positions.
constexpr std::int64_t largest_place = std::int64_t{1} << 30;

/// Counts of each word sequence of `pool` [sequences, length] in the rows of `x`, with up to
/// `skips` words skipped between two of its words: [rows, sequences].
at::Tensor count_sequences(const at::Tensor& x, const at::Tensor& pool, std::int64_t skips) {
  const std::int64_t length = pool.size(1);
  at::Tensor counts = at::zeros({x.size(0), pool.size(0)}, x.options().dtype(at::kFloat));
  for (std::int64_t step = 1; step <= (length == 1 ? 1 : skips + 1); ++step) {
    const std::int64_t reach = (length - 1) * step + 1;
    if (reach > x.size(1)) break;
    const at::Tensor windows = at::slice(x.unfold(1, reach, 1), 2, 0, std::nullopt, step);
    const at::Tensor found = at::all(at::eq(windows.unsqueeze(2), pool), -1);
    counts = at::add(counts, at::sum(found, 1));
  }
  return counts;
}

/// The pool lists sequences of one word, then of two …; `ngram_counts` is where each length begins,
/// `ngram_indexes` the result element that counts each sequence.
Tensors tf_idf_vectorizer(OnnxCall& call) {
  const bool is_row = call.input(0).dim() == 1;
  const at::Tensor x = is_row ? call.input(0).unsqueeze(0) : call.input(0);
  if (x.dim() != 2 || call.texts("pool_strings"))
    call.fail("words that are texts, or an input of another rank",
              "Wanted: numbers of words, [words] or [rows, words], and pool_int64s.");
  const Integers begins = required(call, "ngram_counts"), pool = required(call, "pool_int64s");
  const Integers places = required(call, "ngram_indexes");
  const std::int64_t least = call.integer("min_gram_length", 1);
  const std::int64_t most = call.integer("max_gram_length", 1);
  Tensors counts;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto length = static_cast<std::int64_t>(i) + 1;
    const auto size = static_cast<std::int64_t>(pool.size());
    const std::int64_t end = i + 1 < begins.size() ? begins[i + 1] : size;
    if (begins[i] < 0 || begins[i] > end || end > size || (end - begins[i]) % length != 0)
      call.fail(fmt::format("sequences of {} words from {} to {} of a pool of {}", length,
                            begins[i], end, pool.size()));
    const at::Tensor sequences = to_device_of(
        host_integers(Integers(pool.begin() + begins[i], pool.begin() + end)).reshape({-1, length}),
        x);
    counts.push_back(length < least || length > most
                         ? at::zeros({x.size(0), sequences.size(0)}, x.options().dtype(at::kFloat))
                         : count_sequences(x, sequences, call.integer("max_skip_count", 0)));
  }
  at::Tensor found = at::cat(counts, 1);
  if (found.size(1) != static_cast<std::int64_t>(places.size()))
    call.fail(fmt::format("{} places for {} sequences", places.size(), found.size(1)));
  const std::string mode = call.text("mode", "TF");
  if (mode == "IDF") found = at::gt(found, 0).to(found.device(), at::kFloat);
  if (const auto weights = call.reals("weights"); weights && mode != "TF")
    found = at::mul(found, to_device_of(at::tensor(*weights, host_options(at::kFloat)), found));
  for (const std::int64_t place : places)
    if (place < 0 || place > largest_place) call.fail(fmt::format("an ngram_index of {}", place));
  const std::int64_t width =
      places.empty() ? 0 : *std::max_element(places.begin(), places.end()) + 1;
  const at::Tensor y = at::zeros({x.size(0), width}, found.options())
                           .index_copy(1, to_device_of(host_integers(places), found), found);
  return {is_row ? y.squeeze(0) : y};
}

/// The trees of a TreeEnsemble in one table: nodes, then leaves, which point to themselves.
struct Forest {
  Integers on_true, on_false, features, roots, leaf_targets;
  at::Tensor modes, splits, leaf_weights;
  std::int64_t nodes = 0, depth = 0;
};

at::Tensor table(const OnnxCall& call, std::string_view attribute) {
  const auto constant = call.tensor(attribute);
  if (!constant) call.fail(fmt::format("no attribute '{}'", attribute));
  return real_tensor(*constant);
}

/// The target of each branch, in the combined table.
Integers branches(const OnnxCall& call, const Forest& forest, const std::string& branch) {
  Integers targets = required(call, "nodes_" + branch + "nodeids");
  const Integers is_leaf = required(call, "nodes_" + branch + "leafs");
  const auto leaves = static_cast<std::int64_t>(forest.leaf_targets.size());
  if (targets.size() != is_leaf.size() || static_cast<std::int64_t>(targets.size()) != forest.nodes)
    call.fail(fmt::format("{} branches of {} nodes", targets.size(), forest.nodes));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0 || targets[i] >= (is_leaf[i] != 0 ? leaves : forest.nodes))
      call.fail(fmt::format("node {} leads to {}, which is not there", i, targets[i]));
    if (is_leaf[i] != 0) targets[i] += forest.nodes;
  }
  for (std::int64_t leaf = 0; leaf < leaves; ++leaf) targets.push_back(forest.nodes + leaf);
  return targets;
}

/// The longest path from a root to a leaf.
std::int64_t depth_of(const OnnxCall& call, const Forest& forest) {
  Integers here = forest.roots;
  for (std::int64_t depth = 0; depth <= forest.nodes; ++depth) {
    Integers next;
    for (const std::int64_t node : here)
      if (node < forest.nodes)
        for (const Integers* branch : {&forest.on_true, &forest.on_false})
          next.push_back((*branch)[static_cast<std::size_t>(node)]);
    if (next.empty()) return depth;
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    here = std::move(next);
  }
  call.fail("a tree leads back to itself");
}

Forest read_forest(const OnnxCall& call) {
  Forest forest;
  forest.features = required(call, "nodes_featureids");
  forest.nodes = static_cast<std::int64_t>(forest.features.size());
  forest.leaf_targets = required(call, "leaf_targetids");
  forest.on_true = branches(call, forest, "true");
  forest.on_false = branches(call, forest, "false");
  forest.features.resize(forest.on_true.size(), 0);
  forest.modes = table(call, "nodes_modes"), forest.splits = table(call, "nodes_splits");
  forest.leaf_weights = table(call, "leaf_weights");
  const auto leaves = static_cast<std::int64_t>(forest.leaf_targets.size());
  if (forest.modes.numel() != forest.nodes || forest.splits.numel() != forest.nodes ||
      forest.leaf_weights.numel() != leaves)
    call.fail(fmt::format("{} modes, {} splits and {} weights for {} nodes and {} leaves",
                          forest.modes.numel(), forest.splits.numel(), forest.leaf_weights.numel(),
                          forest.nodes, leaves));
  for (std::int64_t root : required(call, "tree_roots")) {
    if (root < 0 || root >= forest.nodes) call.fail(fmt::format("a root of {}", root));
    // A tree that is a single leaf: both branches lead to it.
    const auto at = static_cast<std::size_t>(root);
    const bool is_leaf =
        forest.on_true[at] >= forest.nodes && forest.on_true[at] == forest.on_false[at];
    forest.roots.push_back(is_leaf ? forest.on_true[at] : root);
  }
  forest.depth = depth_of(call, forest);
  return forest;
}

/// Rows of values, one per BRANCH_MEMBER node; each list is terminated by NaN.
at::Tensor member_table(const OnnxCall& call, const Forest& forest) {
  const at::Tensor values = table(call, "membership_values").to(at::kDouble).contiguous();
  const at::Tensor modes = forest.modes.to(at::kLong);
  constexpr std::int64_t member = 6;
  at::Tensor rows = at::full({static_cast<std::int64_t>(forest.on_true.size()), values.numel()},
                             std::numeric_limits<double>::quiet_NaN(), values.options());
  std::int64_t at = 0;
  for (std::int64_t node = 0; node < forest.nodes; ++node) {
    if (modes[node].item<std::int64_t>() != member) continue;
    for (; at < values.numel(); ++at) {
      const auto value = values[at].item<double>();
      if (std::isnan(value)) break;
      rows[node][at] = value;
    }
    ++at;
  }
  return rows;
}

using Compare = at::Tensor (*)(const at::Tensor&, const at::Tensor&);
/// By nodes_modes: BRANCH_LEQ, LT, GTE, GT, EQ, NEQ.
constexpr Compare comparisons[] = {at::le, at::lt, at::ge, at::gt, at::eq, at::ne};

/// True for each value that takes its node's branch; evaluates only the comparisons used by the
/// trees.
at::Tensor takes_branch(const OnnxCall& call, const Forest& forest, const at::Tensor& value,
                        const at::Tensor& place) {
  const auto leaves = static_cast<std::int64_t>(forest.leaf_targets.size());
  const auto at_place = [&](const at::Tensor& rows) {
    return at::index_select(to_device_of(rows, value), 0, place.flatten());
  };
  const at::Tensor mode =
      at_place(at::constant_pad_nd(forest.modes.to(at::kLong), {0, leaves})).reshape(place.sizes());
  const at::Tensor split =
      at_place(at::constant_pad_nd(forest.splits.to(value.scalar_type()), {0, leaves}))
          .reshape(place.sizes());
  at::Tensor taken = at::zeros(place.sizes(), place.options().dtype(at::kBool));
  for (std::int64_t number = 0; number < 7; ++number) {
    if (!at::eq(forest.modes, number).any().item<bool>()) continue;
    at::Tensor holds;
    if (number < 6) {
      holds = comparisons[number](value, split);
    } else {
      const at::Tensor members = at_place(member_table(call, forest).to(value.scalar_type()));
      holds = at::any(at::eq(value.reshape({-1, 1}), members), 1).reshape(place.sizes());
    }
    taken = at::logical_or(taken, at::logical_and(at::eq(mode, number), holds));
  }
  if (const auto missing = call.integers("nodes_missing_value_tracks_true")) {
    const at::Tensor tracks = at::constant_pad_nd(host_integers(*missing), {0, leaves});
    taken = at::logical_or(
        taken, at::logical_and(at::isnan(value), at_place(tracks).reshape(place.sizes())));
  }
  return taken;
}

/// Evaluates all trees at once for every row, from roots to leaves (ai.onnx.ml 5).
Tensors tree_ensemble(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (x.dim() != 2) call.fail(fmt::format("an input of rank {}; wanted 2", x.dim()));
  const Forest forest = read_forest(call);
  const auto trees = static_cast<std::int64_t>(forest.roots.size());
  const auto moved = [&](const Integers& values, const at::Tensor& place) {
    return at::index_select(to_device_of(host_integers(values), x), 0, place.flatten())
        .reshape(place.sizes());
  };
  at::Tensor place =
      to_device_of(host_integers(forest.roots), x).unsqueeze(0).expand({x.size(0), trees});
  for (std::int64_t step = 0; step < forest.depth; ++step) {
    const at::Tensor value = at::gather(x, 1, moved(forest.features, place));
    place = at::where(takes_branch(call, forest, value, place), moved(forest.on_true, place),
                      moved(forest.on_false, place));
  }
  const at::Tensor leaf = at::sub(place, forest.nodes);
  const at::Tensor target = moved(forest.leaf_targets, leaf);
  const at::Tensor weight =
      at::index_select(to_device_of(forest.leaf_weights.to(x.scalar_type()), x), 0, leaf.flatten())
          .reshape(leaf.sizes());
  const std::int64_t aggregate = call.integer("aggregate_function", 1);
  const std::int64_t targets = call.integer("n_targets", 1);
  if (call.integer("post_transform", 0) != 0 || aggregate < 0 || aggregate > 3)
    call.fail("a post_transform or an unknown aggregate_function", "Wanted: no post_transform.");
  if (aggregate < 2) {
    const at::Tensor sums =
        at::zeros({x.size(0), targets}, x.options()).scatter_add(1, target, weight);
    return {aggregate == 0 ? at::div(sums, trees) : sums};
  }
  const double none = std::numeric_limits<float>::max();
  return {at::full({x.size(0), targets}, aggregate == 2 ? none : -none, x.options())
              .scatter_reduce(1, target, weight, aggregate == 2 ? "amin" : "amax")};
}

constexpr Lowering learning_rows[] = {
    {"ai.onnx.ml::TreeEnsemble", tree_ensemble},
    {"onnx::TfIdfVectorizer", tf_idf_vectorizer},
};

}  // namespace

Lowerings learning_lowerings() { return learning_rows; }

}  // namespace symprof::lowering
