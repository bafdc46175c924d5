#include "engine/compare.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "engine/layer_graph.h"
#include "engine/layer_kinds.h"
#include "engine/names.h"

namespace symprof::engine {
namespace {

bool is_quantizer_name(std::string_view name) {
  return name.find("QuantizeLinear") != std::string_view::npos ||
         name.find("DequantizeLinear") != std::string_view::npos;
}

/// The name without the region's number, which only gives the region's position.
std::string stable_name(const Layer& layer) {
  const auto [base, number] = split_kernel_number(layer.name);
  return number ? std::string(base) + "_myl" : std::string(base);
}

/// "Conv" of "Conv_84", an exporter's numbered name; empty for other names. Such numbers change
/// with every node inserted before.
std::string_view counted_operator(std::string_view name) {
  const bool is_path = name.find_first_of("./") != std::string_view::npos;
  return is_path ? std::string_view() : without_number(name);
}

/// The nodes and weights of a layer, without quantizers (which vary with precision); for a lone
/// quantizer, itself.
std::vector<std::string> all_names(const Layer& layer) {
  std::vector<std::string> names = layer.metadata;
  if (!reformat_name(layer.name))
    for (const NameTerm& term : name_terms(layer.name))
      if (term.kind == NameTerm::Kind::node) names.push_back(term.text);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto is_other = [](const std::string& name) { return !is_quantizer_name(name); };
  if (std::ranges::any_of(names, is_other)) std::erase_if(names, std::not_fn(is_other));
  return names;
}

/// Names that identify a layer in another engine; numbered names only if there are no others, such
/// as weights'.
std::vector<std::string> nodes_of(const Layer& layer) {
  std::vector<std::string> names = all_names(layer);
  const auto is_counted = [](const std::string& name) { return !counted_operator(name).empty(); };
  if (!std::ranges::all_of(names, is_counted)) std::erase_if(names, is_counted);
  return names;
}

/// The operators fused in a layer, without numbers.
std::vector<std::string> operators_of(const Layer& layer) {
  std::vector<std::string> names = all_names(layer);
  for (std::string& name : names)
    if (const std::string_view op = counted_operator(name); !op.empty()) name = std::string(op);
  std::ranges::sort(names);
  return names;
}

class Comparison {
 public:
  Comparison(const Engine& before, const EngineSummary& before_summary, const Engine& after,
             const EngineSummary& after_summary)
      : sides_{Side(before, before_summary), Side(after, after_summary)} {}

  std::vector<ComparedLayers> compare() {
    align([&](const Side& side, std::size_t i) { return stable_name(side.layer(i)); },
          ComparedLayers::Kind::same);
    align([&](const Side& side, std::size_t i) { return key_of(nodes_of(side.layer(i))); },
          ComparedLayers::Kind::similar);
    for (ComparedLayers& each : found_)
      if (operators_of(sides_[0].layer(static_cast<std::size_t>(each.before.front()))) !=
          operators_of(sides_[1].layer(static_cast<std::size_t>(each.after.front()))))
        each.kind = ComparedLayers::Kind::regrouped;
    join_regrouped();
    align_behind();
    join_taken_in();
    add_rest();
    for (ComparedLayers& each : found_) add_times(each);
    std::ranges::stable_sort(found_, {}, [&](const ComparedLayers& each) {
      // Layers only in the second engine go last.
      return each.before.empty()
                 ? sides_[0].engine->layers.size() + static_cast<std::size_t>(each.after.front())
                 : static_cast<std::size_t>(each.before.front());
    });
    return std::move(found_);
  }

 private:
  struct Side {
    Side(const Engine& engine, const EngineSummary& summary)
        : engine(&engine), summary(&summary), graph(engine), is_taken(engine.layers.size()) {}

    const Engine* engine;
    const EngineSummary* summary;
    LayerGraph graph;
    std::vector<bool> is_taken;

    const Layer& layer(std::size_t i) const { return engine->layers[i]; }
    bool is_open(std::size_t i) const { return summary->layers[i].has_kernel && !is_taken[i]; }
    std::size_t size() const { return engine->layers.size(); }
  };

  static std::string key_of(const std::vector<std::string>& names) {
    return std::accumulate(
        names.begin(), names.end(), std::string(),
        [](std::string sum, const std::string& name) { return std::move(sum) + name + '\n'; });
  }

  /// Pairs the k-th unmatched layer of a key with the k-th of the other engine.
  template <class Key>
  void align(Key key, ComparedLayers::Kind kind) {
    std::unordered_map<std::string, std::vector<std::size_t>> places;
    for (std::size_t i = sides_[1].size(); i-- > 0;)
      if (sides_[1].is_open(i)) places[key(sides_[1], i)].push_back(i);
    for (std::size_t i = 0; i < sides_[0].size(); ++i) {
      if (!sides_[0].is_open(i)) continue;
      const std::string name = key(sides_[0], i);
      const auto known = places.find(name);
      if (name.empty() || known == places.end() || known->second.empty()) continue;
      const std::size_t other = known->second.back();
      known->second.pop_back();
      sides_[0].is_taken[i] = sides_[1].is_taken[other] = true;
      found_.push_back(
          {.kind = kind, .before = {static_cast<int>(i)}, .after = {static_cast<int>(other)}});
    }
  }

  /// Groups the remaining layers by shared nodes: a node in layer 3 of one engine and in layers 5
  /// and 6 of the other groups the three.
  void join_regrouped() {
    std::unordered_map<std::string, std::size_t> group_of_node;
    std::vector<std::size_t> parents;
    const auto root = [&](std::size_t i) {
      while (parents[i] != i) i = parents[i] = parents[parents[i]];
      return i;
    };
    std::vector<std::pair<int, std::size_t>> members;  // A layer's number and its side, by group.
    for (std::size_t side = 0; side < 2; ++side)
      for (std::size_t i = 0; i < sides_[side].size(); ++i) {
        if (!sides_[side].is_open(i)) continue;
        const std::size_t mine = parents.size();
        parents.push_back(mine);
        members.emplace_back(static_cast<int>(i), side);
        for (const std::string& node : nodes_of(sides_[side].layer(i))) {
          const auto [known, is_new] = group_of_node.emplace(node, mine);
          if (!is_new) parents[root(mine)] = root(known->second);
        }
      }
    std::unordered_map<std::size_t, ComparedLayers> groups;
    for (std::size_t i = 0; i < members.size(); ++i) {
      ComparedLayers& group = groups[root(i)];
      (members[i].second == 0 ? group.before : group.after).push_back(members[i].first);
    }
    for (auto& [unused, group] : groups) {
      if (group.before.empty() || group.after.empty()) continue;
      group.kind = ComparedLayers::Kind::regrouped;
      for (const int i : group.before) sides_[0].is_taken[static_cast<std::size_t>(i)] = true;
      for (const int i : group.after) sides_[1].is_taken[static_cast<std::size_t>(i)] = true;
      found_.push_back(std::move(group));
    }
  }

  std::vector<int>& layers_of(ComparedLayers& row, std::size_t side) const {
    return side == 0 ? row.before : row.after;
  }

  /// The row of the producer of layer `i`'s first input; null if unknown.
  ComparedLayers* row_before(std::size_t side, std::size_t i) {
    const Layer& layer = sides_[side].layer(i);
    if (layer.inputs.empty()) return nullptr;
    const int maker = sides_[side].graph.producer(layer.inputs.front().name);
    for (ComparedLayers& row : found_)
      if (std::ranges::find(layers_of(row, side), maker) != layers_of(row, side).end()) return &row;
    return nullptr;
  }

  /// The operator in an unmatched layer's numbered name ("Conv_84"); empty for other layers.
  std::string open_operator(std::size_t side, std::size_t i) const {
    if (!sides_[side].is_open(i) || is_reformat(sides_[side].layer(i))) return "";
    const std::vector<std::string> names = all_names(sides_[side].layer(i));
    return names.size() == 1 ? std::string(counted_operator(names.front())) : "";
  }

  /// Aligns layers with only a numbered operator name if their preceding layers are aligned.
  void align_behind() {
    std::vector<std::string> operators(sides_[1].size());
    for (std::size_t k = 0; k < operators.size(); ++k) operators[k] = open_operator(1, k);
    for (std::size_t i = 0; i < sides_[0].size(); ++i) {
      const std::string op = open_operator(0, i);
      if (op.empty()) continue;
      const ComparedLayers* row = row_before(0, i);
      for (std::size_t k = 0; row != nullptr && k < sides_[1].size(); ++k) {
        if (sides_[1].is_taken[k] || operators[k] != op || row_before(1, k) != row) continue;
        sides_[0].is_taken[i] = sides_[1].is_taken[k] = true;
        found_.push_back({.kind = ComparedLayers::Kind::similar,
                          .before = {static_cast<int>(i)},
                          .after = {static_cast<int>(k)}});
        break;
      }
    }
  }

  std::ptrdiff_t count_operator(std::size_t side, const std::vector<int>& layers,
                                const std::string& op) const {
    std::ptrdiff_t count = 0;
    for (const int layer : layers)
      count +=
          std::ranges::count(operators_of(sides_[side].layer(static_cast<std::size_t>(layer))), op);
    return count;
  }

  /// Joins a layer that the other engine fused into the counterpart of its preceding layer.
  void join_taken_in() {
    for (std::size_t side = 0; side < 2; ++side)
      for (std::size_t i = 0; i < sides_[side].size(); ++i) {
        const std::string op = open_operator(side, i);
        ComparedLayers* row = op.empty() ? nullptr : row_before(side, i);
        if (row == nullptr || count_operator(1 - side, layers_of(*row, 1 - side), op) <=
                                  count_operator(side, layers_of(*row, side), op))
          continue;
        layers_of(*row, side).push_back(static_cast<int>(i));
        row->kind = ComparedLayers::Kind::regrouped;
        sides_[side].is_taken[i] = true;
      }
  }

  void add_rest() {
    for (std::size_t side = 0; side < 2; ++side)
      for (std::size_t i = 0; i < sides_[side].size(); ++i) {
        if (!sides_[side].is_open(i)) continue;
        ComparedLayers alone{.kind = ComparedLayers::Kind::only_one};
        (side == 0 ? alone.before : alone.after).push_back(static_cast<int>(i));
        found_.push_back(std::move(alone));
      }
  }

  static std::optional<double> time_of(const Side& side, const std::vector<int>& layers) {
    if (layers.empty()) return std::nullopt;  // No such layer, rather than zero time.
    return measured_ms(*side.summary, layers);
  }

  void add_times(ComparedLayers& each) const {
    each.before_ms = time_of(sides_[0], each.before);
    each.after_ms = time_of(sides_[1], each.after);
  }

  Side sides_[2];
  std::vector<ComparedLayers> found_;
};

}  // namespace

std::vector<ComparedLayers> compare(const Engine& before, const EngineSummary& before_summary,
                                    const Engine& after, const EngineSummary& after_summary) {
  return Comparison(before, before_summary, after, after_summary).compare();
}

std::string_view name(ComparedLayers::Kind kind) {
  switch (kind) {
    case ComparedLayers::Kind::same:
      return "same";
    case ComparedLayers::Kind::similar:
      return "similar";
    case ComparedLayers::Kind::regrouped:
      return "regrouped";
    case ComparedLayers::Kind::only_one:
      return "only one";
  }
  return "";
}

}  // namespace symprof::engine
