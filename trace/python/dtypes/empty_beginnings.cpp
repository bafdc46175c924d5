#include "trace/python/dtypes/empty_beginnings.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/python/dtypes/cast_lines.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_dtypes.h"

namespace symprof::trace {
namespace {

/// Operators that may stand between a constant of the code and its use.
constexpr std::array<std::string_view, 8> copies = {
    "aten::lift_fresh", "aten::lift_fresh_copy", "aten::detach", "aten::detach_",
    "aten::to",         "aten::_to_copy",        "aten::clone",  "aten::alias"};
constexpr std::array<std::string_view, 3> makers = {"tensor", "empty", "zeros"};

class BeginningFollower {
 public:
  explicit BeginningFollower(Graph& graph) : graph_(graph), uses_(graph), edits_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].op == "aten::cat") follow(i);
    edits_.apply();
  }

 private:
  void follow(std::size_t index) {
    Node& cat = graph_.nodes[index];
    Argument* argument = find_argument(cat, "tensors", 0);
    auto* list =
        argument == nullptr ? nullptr : std::get_if<std::vector<ListElement>>(&argument->value);
    if (list == nullptr) return;
    std::vector<ValueRef*> beginnings;
    ValueId appended = no_value;
    for (ListElement& element : *list) {
      auto* ref = std::get_if<ValueRef>(&element);
      if (ref == nullptr) continue;
      if (is_beginning(ref->id))
        beginnings.push_back(ref);
      else if (appended == no_value)
        appended = ref->id;
    }
    if (beginnings.empty() || appended == no_value) return;
    const ValueId like = first_.try_emplace(place_of(cat), appended).first->second;
    for (ValueRef* beginning : beginnings)
      beginning->id = edits_.insert_before(
          index, {.name = cat.name + "_begin",
                  .op = "aten::type_as",
                  .overload = "default",
                  .arguments = {{"self", ValueRef{beginning->id}}, {"other", ValueRef{like}}},
                  .scope = cat.scope,
                  .source = cat.source});
  }

  /// A call of a function, or a line of a module's own.
  std::tuple<ScopeId, SourceId, std::string> place_of(const Node& node) const {
    if (node.source == no_source) return {node.scope, no_source, ""};
    const SourceLine& line = graph_.source_lines[static_cast<std::size_t>(node.source)];
    if (line.function == "forward") return {node.scope, node.source, ""};
    return {node.scope, line.caller, line.function};
  }

  /// True if the value is an empty tensor of the code in a dtype that no line names.
  bool is_beginning(ValueId id) const {
    for (auto maker = uses_.maker(id); maker; maker = uses_.maker(id)) {
      const Node& node = graph_.nodes[*maker];
      if (std::ranges::find(copies, node.op) == copies.end() || names_dtype(node)) return false;
      id = operand(node, 0);
      if (id == no_value) return false;
    }
    const Value& value = graph_.value(id);
    return value.kind == ValueKind::constant && value.spec &&
           value.spec->sizes == std::vector<std::int64_t>{0} &&
           is_floating_point(value.spec->dtype);
  }

  /// True if the line makes a tensor in a dtype of its own: a literal, or the default.
  bool names_dtype(const Node& node) const {
    if (node.source == no_source) return false;
    const std::string_view line = graph_.source_lines[static_cast<std::size_t>(node.source)].text;
    return std::ranges::any_of(makers, [&](std::string_view maker) {
      return count_word(line, maker) > 0 &&
             written_dtype(line, maker).source != DTypeSource::followed;
    });
  }

  Graph& graph_;
  Uses uses_;
  NodeEdits edits_;
  /// The first value appended at each place.
  std::map<std::tuple<ScopeId, SourceId, std::string>, ValueId> first_;
};

}  // namespace

void follow_empty_beginnings(Graph& graph) { BeginningFollower(graph).run(); }

}  // namespace symprof::trace
