#include "trace/passes/expert_products.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "trace/graph/module_patterns.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// Operators of one operand that hand on its dimension 0.
constexpr std::string_view passing_on[] = {"aten::transpose", "aten::to", "aten::contiguous",
                                           "aten::_to_copy", "aten::alias"};

class ExpertSearch {
 public:
  ExpertSearch(const Graph& graph, const ValueSpecs& specs)
      : graph_(graph), specs_(specs), uses_(graph) {}

  std::vector<ExpertProducts> run() const {
    std::map<ValueId, std::vector<std::size_t>> by_ends;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (is_product(graph_.nodes[i])) by_ends[ends_of(graph_.nodes[i])].push_back(i);
    std::vector<ExpertProducts> all;
    for (auto& [ends, products] : by_ends) {
      ExpertProducts found{.products = std::move(products), .ends = ends};
      if (fill(found)) all.push_back(std::move(found));
    }
    std::ranges::sort(all, {}, [](const ExpertProducts& one) { return one.products.front(); });
    return all;
  }

 private:
  static bool is_product(const Node& node) {
    return node.op == "aten::_grouped_mm" || node.op == "transformers::grouped_mm_fallback";
  }
  static ValueId ends_of(const Node& node) { return value_of(find_argument(node, "offs", 2)); }

  const TensorSpec* spec(ValueId id) const {
    if (id < 0) return nullptr;
    const auto& found = specs_[static_cast<std::size_t>(id)];
    return found ? &*found : nullptr;
  }

  bool fill(ExpertProducts& found) const {
    return find_weights(found) && find_rows(found) && find_between(found);
  }

  /// The parameter that an operand is, seen from its other side at most.
  ValueId parameter_behind(ValueId id) const {
    while (id != no_value && graph_.value(id).kind != ValueKind::parameter) {
      const auto maker = uses_.maker(id);
      if (!maker) return no_value;
      const Node& node = graph_.nodes[*maker];
      if (std::ranges::find(passing_on, node.op) == std::end(passing_on)) return no_value;
      id = operand(node, 0);
    }
    return id;
  }

  bool find_weights(ExpertProducts& found) const {
    if (found.ends == no_value) return false;
    for (const std::size_t product : found.products) {
      const ValueId operand_id = operand(graph_.nodes[product], 1);
      const ValueId weight = parameter_behind(operand_id);
      const TensorSpec *whole = spec(weight), *seen = spec(operand_id);
      if (whole == nullptr || seen == nullptr || whole->sizes.size() != 3 ||
          whole->sizes[0] != seen->sizes[0])
        return false;
      found.experts = whole->sizes[0];
      found.weights.push_back(weight);
    }
    return true;
  }

  /// The nodes that depend on the result of a product.
  std::set<std::size_t> behind(const std::vector<std::size_t>& products) const {
    std::set<std::size_t> found;
    std::vector<std::size_t> open = products;
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      for (const ValueId output : graph_.nodes[node].outputs)
        if (output != no_value)
          for (const std::size_t reader : uses_.readers(output))
            if (found.insert(reader).second) open.push_back(reader);
    }
    return found;
  }

  /// Products that no other one is behind read the rows, one of them is behind all others.
  bool find_rows(ExpertProducts& found) const {
    const std::set<std::size_t> later = behind(found.products);
    for (const std::size_t product : found.products) {
      if (later.contains(product)) continue;
      const ValueId rows = operand(graph_.nodes[product], 0);
      if (found.rows != no_value && found.rows != rows) return false;
      found.rows = rows;
    }
    const bool ends_in_one = std::ranges::all_of(found.products, [&](std::size_t product) {
      return product == found.products.back() || behind({product}).contains(found.products.back());
    });
    return spec(found.rows) != nullptr && ends_in_one;
  }

  /// Finds the nodes between the products: they work row by row, and read only results of products.
  bool find_between(ExpertProducts& found) const {
    const std::set<std::size_t> later = behind(found.products);
    const auto is_product = [&](std::size_t node) {
      return std::ranges::find(found.products, node) != found.products.end();
    };
    std::vector<std::size_t> open = {found.products.back()};
    std::set<std::size_t> seen(open.begin(), open.end());
    bool fits = true;
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      for_each_value(graph_.nodes[node], [&](ValueId id) {
        if (id == no_value || id == found.rows || id == found.ends) return;
        const auto maker = uses_.maker(id);
        const bool is_of_rows = maker && (later.contains(*maker) || is_product(*maker));
        if (is_of_rows && seen.insert(*maker).second) open.push_back(*maker);
        const TensorSpec* other = spec(id);
        fits = fits && (is_of_rows || is_product(node) || other == nullptr || other->numel() == 1);
      });
    }
    for (const std::size_t node : seen)
      if (!is_product(node)) found.between.push_back(node);
    return fits;
  }

  const Graph& graph_;
  const ValueSpecs& specs_;
  Uses uses_;
};

}  // namespace

std::string module_of(const ExpertProducts& experts, const Graph& graph) {
  const Node& last = graph.nodes[experts.products.back()];
  return module_path(graph.scopes[static_cast<std::size_t>(last.scope)]);
}

std::vector<ExpertProducts> find_experts(const Graph& graph, const ValueSpecs& specs) {
  return ExpertSearch(graph, specs).run();
}

}  // namespace symprof::trace
