#include "trace/onnx/order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace symprof::trace {
namespace {

using ProducersByName = std::unordered_map<std::string, std::size_t>;

ProducersByName find_producers(const NodeList& nodes,
                               const std::function<bool(const std::string&)>& is_defined,
                               const std::string& path) {
  ProducersByName producers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(nodes.size()); ++i) {
    const onnx::NodeProto& node = nodes[static_cast<int>(i)];
    for (const std::string& output : node.output()) {
      if (output.empty()) continue;
      const auto [other, added] = producers.try_emplace(output, i);
      if (added && !is_defined(output)) continue;
      const std::string first =
          added ? "an input or initializer"
                : describe(nodes[static_cast<int>(other->second)], other->second);
      throw Error(path,
                  fmt::format("{} defines '{}', which {} defines already", describe(node, i),
                              output, first),
                  "Every value of an ONNX graph has one definition.");
    }
  }
  return producers;
}

/// Follows unfinished producers backwards from any unfinished node until one repeats.
[[noreturn]] void throw_cycle(const NodeList& nodes, const ProducersByName& producers,
                              const std::vector<int>& waiting, const std::string& path) {
  std::size_t at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<std::size_t> walk;
  std::vector<bool> seen(waiting.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    walk.push_back(at);
    for (const std::string& name : names_read(nodes[static_cast<int>(at)])) {
      const auto producer = producers.find(name);
      if (producer == producers.end() || waiting[producer->second] == 0) continue;
      at = producer->second;
      break;
    }
  }
  std::vector<std::string> cycle{describe(nodes[static_cast<int>(at)], at)};
  for (auto i = walk.rbegin(); i != walk.rend() && *i != at && cycle.size() < 10; ++i)
    cycle.push_back(describe(nodes[static_cast<int>(*i)], *i));
  throw Error(path, fmt::format("the graph has a cycle: {}", fmt::join(cycle, " -> ")),
              "An ONNX graph is acyclic; a loop is written as a Loop or Scan node.");
}

void collect_reads(const onnx::NodeProto& node, const std::unordered_set<std::string>& defined,
                   std::vector<std::string>& names, std::unordered_set<std::string>& seen) {
  for (std::string& name : names_read(node))
    if (!defined.contains(name) && seen.insert(name).second) names.push_back(std::move(name));
}

}  // namespace

std::string describe(const onnx::NodeProto& node, std::size_t index) {
  if (node.name().empty()) return fmt::format("node number {} ({})", index, node.op_type());
  return fmt::format("node {} ({})", node.name(), node.op_type());
}

std::vector<std::string> captured_names(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> defined, seen;
  for (const auto& input : graph.input()) defined.insert(input.name());
  for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
  for (const auto& node : graph.node())
    for (const std::string& output : node.output()) defined.insert(output);
  std::vector<std::string> names;
  for (const auto& node : graph.node()) collect_reads(node, defined, names, seen);
  for (const auto& output : graph.output())
    if (!defined.contains(output.name()) && seen.insert(output.name()).second)
      names.push_back(output.name());
  return names;
}

std::vector<std::string> names_read(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  for (const std::string& input : node.input())
    if (!input.empty()) names.push_back(input);
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.type() == onnx::AttributeProto::GRAPH)
      for (std::string& name : captured_names(attribute.g())) names.push_back(std::move(name));
  return names;
}

std::vector<const onnx::NodeProto*> execution_order(
    const NodeList& nodes, const std::function<bool(const std::string&)>& is_defined,
    const std::string& path) {
  const ProducersByName producers = find_producers(nodes, is_defined, path);
  const auto count = static_cast<std::size_t>(nodes.size());
  std::vector<int> waiting(count, 0);  // Inputs not yet available.
  std::vector<std::vector<std::size_t>> readers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const onnx::NodeProto& node = nodes[static_cast<int>(i)];
    for (const std::string& name : names_read(node)) {
      if (const auto producer = producers.find(name); producer != producers.end()) {
        readers[producer->second].push_back(i);
        ++waiting[i];
      } else if (!is_defined(name)) {
        throw Error(path,
                    fmt::format("{} reads '{}', which nothing defines", describe(node, i), name),
                    "Wanted: a graph input, an initializer or another node's output of that name.");
      }
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<const onnx::NodeProto*> order;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(&nodes[static_cast<int>(next)]);
    for (const std::size_t reader : readers[next])
      if (--waiting[reader] == 0) ready.push(reader);
  }
  if (order.size() < count) throw_cycle(nodes, producers, waiting, path);
  return order;
}

}  // namespace symprof::trace
