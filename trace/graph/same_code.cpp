#include "trace/graph/same_code.h"

#include <algorithm>
#include <tuple>

namespace symprof::trace {
namespace {

template <class T, class Equal>
bool are_same(const std::vector<T>& a, const std::vector<T>& b, Equal equal) {
  return std::ranges::equal(a, b, equal);
}

bool is_same_element(const ListElement& a, const ListElement& b);
bool is_same_argument(const Argument& a, const Argument& b);

// Subgraphs and constants are shared by graphs that are copies of one: it is enough that these are.
struct SameValue {
  bool operator()(NoArgument, NoArgument) const { return true; }
  bool operator()(ValueRef a, ValueRef b) const { return a.id == b.id; }
  bool operator()(const DeviceName& a, const DeviceName& b) const { return a.name == b.name; }
  bool operator()(const CustomObject& a, const CustomObject& b) const {
    return a.class_name == b.class_name;
  }
  bool operator()(const std::vector<ListElement>& a, const std::vector<ListElement>& b) const {
    return are_same(a, b, is_same_element);
  }
  bool operator()(const std::vector<Argument>& a, const std::vector<Argument>& b) const {
    return are_same(a, b, is_same_argument);
  }
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

bool is_same_element(const ListElement& a, const ListElement& b) {
  return std::visit(SameValue(), a, b);
}

bool is_same_argument(const Argument& a, const Argument& b) {
  return a.name == b.name && a.value.index() == b.value.index() &&
         std::visit(SameValue(), a.value, b.value);
}

bool is_same_node(const Node& a, const Node& b) {
  const auto key = [](const Node& node) {
    return std::tie(node.name, node.op, node.overload, node.outputs, node.outputs_are_list,
                    node.scope, node.source, node.call, node.releases);
  };
  return key(a) == key(b) && are_same(a.arguments, b.arguments, is_same_argument);
}

bool is_same_scope(const Scope& a, const Scope& b) {
  return std::tie(a.path, a.type, a.parent) == std::tie(b.path, b.type, b.parent);
}

bool is_same_line(const SourceLine& a, const SourceLine& b) {
  const auto key = [](const SourceLine& line) {
    return std::tie(line.file, line.function, line.line, line.text, line.caller, line.blocks);
  };
  return key(a) == key(b);
}

bool is_same_value(const Value& a, const Value& b) {
  const auto key = [](const Value& value) {
    return std::tie(value.name, value.kind, value.storage_key, value.may_stay_in);
  };
  return key(a) == key(b) && (a.kind == ValueKind::input || a.spec == b.spec);
}

/// Which other values have an input's spec tells what code may do with it.
bool inputs_compare_alike(const Graph& a, const Graph& b) {
  return std::ranges::all_of(a.inputs, [&](ValueId input) {
    return are_same(a.values, b.values, [&](const Value& other_a, const Value& other_b) {
      return (other_a.spec == a.value(input).spec) == (other_b.spec == b.value(input).spec);
    });
  });
}

bool is_same_mutation(const Mutation& a, const Mutation& b) {
  return a.target == b.target && a.source == b.source;
}

bool has_same_traits(const GraphTraits& a, const GraphTraits& b) {
  const auto key = [](const GraphTraits& traits) {
    return std::tie(traits.operators_are_aten, traits.inputs_are_bound, traits.has_python_lines,
                    traits.functions_are_followed, traits.blocks_are_calls,
                    traits.loses_own_backward, traits.may_lack_attributes);
  };
  return key(a) == key(b);
}

}  // namespace

bool has_same_code(const Graph& a, const Graph& b) {
  return a.path == b.path && a.format == b.format && a.inputs == b.inputs &&
         a.outputs == b.outputs && has_same_traits(a.traits, b.traits) &&
         are_same(a.nodes, b.nodes, is_same_node) && are_same(a.scopes, b.scopes, is_same_scope) &&
         are_same(a.source_lines, b.source_lines, is_same_line) &&
         are_same(a.mutations, b.mutations, is_same_mutation) &&
         are_same(a.values, b.values, is_same_value) && inputs_compare_alike(a, b);
}

}  // namespace symprof::trace
