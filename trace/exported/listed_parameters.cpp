#include "trace/exported/listed_parameters.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "trace/graph/uses.h"

namespace symprof::trace::exported {
namespace {

constexpr std::string_view nameless = "lifted_tensor_";

bool has_no_name(const Value& value) {
  const std::size_t dot = value.name.rfind('.');
  return value.name.substr(dot == std::string::npos ? 0 : dot + 1).starts_with(nameless);
}

/// Unused parameters and unnamed constants of one dtype and shape, in file order, assumed to be the
/// order of their lists.
struct Alike {
  std::vector<ValueId> parameters, constants;
};

class Pairs {
 public:
  explicit Pairs(const Graph& graph) : graph_(graph), uses_(graph) {
    given_.insert(graph.outputs.begin(), graph.outputs.end());
    for (const Mutation& mutation : graph.mutations) {
      given_.insert(mutation.source);
      given_.insert(mutation.target);
    }
  }

  /// Maps each constant to the parameter that it duplicates.
  std::map<ValueId, ValueId> find() const {
    std::map<std::pair<DType, std::vector<std::int64_t>>, Alike> groups;
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const Value& value = graph_.value(id);
      if (!value.spec || !is_floating_point(value.spec->dtype)) continue;
      Alike& alike = groups[{value.spec->dtype, value.spec->sizes}];
      if (value.kind == ValueKind::parameter && is_unread(id)) alike.parameters.push_back(id);
      if (value.kind == ValueKind::constant && is_from_elsewhere(id)) alike.constants.push_back(id);
    }
    std::map<ValueId, ValueId> pairs;
    for (const auto& [spec, alike] : groups) {
      if (alike.parameters.size() != alike.constants.size()) continue;
      for (std::size_t i = 0; i < alike.constants.size(); ++i)
        pairs.emplace(alike.constants[i], alike.parameters[i]);
    }
    return pairs;
  }

 private:
  bool is_unread(ValueId id) const { return uses_.readers(id).empty() && !given_.contains(id); }

  bool is_from_elsewhere(ValueId id) const {
    return has_no_name(graph_.value(id)) && !is_unread(id) && !given_.contains(id) &&
           std::ranges::none_of(uses_.readers(id), [&](std::size_t reader) {
             return graph_.nodes[reader].op == "aten::lift_fresh_copy";
           });
  }

  const Graph& graph_;
  Uses uses_;
  std::unordered_set<ValueId> given_;  // Graph outputs and mutated values.
};

}  // namespace

void read_listed_parameters(Graph& graph) {
  const std::map<ValueId, ValueId> pairs = Pairs(graph).find();
  if (pairs.empty()) return;
  for (Node& node : graph.nodes)
    for_each_value(node, [&](ValueId& id) {
      if (const auto found = pairs.find(id); found != pairs.end()) id = found->second;
    });
  for (const auto& [constant, parameter] : pairs) {
    Value& unread = graph.value(constant);
    unread.kind = ValueKind::result;  // Without producer and consumer: takes no memory.
    unread.spec.reset();
    unread.constant.reset();
  }
}

}  // namespace symprof::trace::exported
