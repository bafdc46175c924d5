#include "trace/graph/uses.h"

#include <numeric>
#include <utility>

namespace symprof::trace {
namespace {

constexpr std::size_t no_maker = std::numeric_limits<std::size_t>::max();

std::size_t index_of(ValueId id) { return static_cast<std::size_t>(id); }

}  // namespace

const Argument* find_argument(const Node& node, std::string_view name, std::size_t position) {
  std::size_t unnamed = 0;
  for (const Argument& argument : node.arguments)
    if (argument.name.empty() ? unnamed++ == position : argument.name == name) return &argument;
  return nullptr;
}

Argument* find_argument(Node& node, std::string_view name, std::size_t position) {
  return const_cast<Argument*>(find_argument(std::as_const(node), name, position));
}

ValueId value_of(const Argument* argument) {
  const auto* ref = argument_as<ValueRef>(argument);
  return ref == nullptr ? no_value : ref->id;
}

ValueId operand(const Node& node, std::size_t index) {
  return value_of(index < node.arguments.size() ? &node.arguments[index] : nullptr);
}

Uses::Uses(const Graph& graph)
    : makers_(graph.values.size(), no_maker),
      first_reader_(graph.values.size() + 1, 0),
      is_output_(graph.values.size(), false),
      is_written_back_(graph.values.size(), false) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].outputs)
      if (id != no_value) makers_[index_of(id)] = i;
  find_readers(graph);
  for (const ValueId id : graph.outputs)
    if (id != no_value) is_output_[index_of(id)] = true;
  for (const Mutation& mutation : graph.mutations)
    if (mutation.source != no_value) is_written_back_[index_of(mutation.source)] = true;
}

void Uses::find_readers(const Graph& graph) {
  for (const Node& node : graph.nodes)
    for_each_value(node, [&](ValueId id) {
      if (id != no_value) ++first_reader_[index_of(id) + 1];
    });
  std::partial_sum(first_reader_.begin(), first_reader_.end(), first_reader_.begin());
  readers_.resize(first_reader_.back());
  std::vector<std::size_t> next = first_reader_;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for_each_value(graph.nodes[i], [&](ValueId id) {
      if (id != no_value) readers_[next[index_of(id)]++] = i;
    });
}

std::optional<std::size_t> Uses::maker(ValueId id) const {
  if (id == no_value || makers_[index_of(id)] == no_maker) return std::nullopt;
  return makers_[index_of(id)];
}

std::span<const std::size_t> Uses::readers(ValueId id) const {
  if (id == no_value) return {};
  const std::size_t first = first_reader_[index_of(id)];
  return std::span(readers_).subspan(first, first_reader_[index_of(id) + 1] - first);
}

std::optional<std::size_t> Uses::last_reader(ValueId id) const {
  const auto all = readers(id);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

bool Uses::is_output(ValueId id) const { return id != no_value && is_output_[index_of(id)]; }

bool Uses::is_written_back(ValueId id) const {
  return id != no_value && is_written_back_[index_of(id)];
}

}  // namespace symprof::trace
