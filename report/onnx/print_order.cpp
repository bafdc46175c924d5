#include "report/onnx/print_order.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace symprof::report {
namespace {

class PrintOrder {
 public:
  explicit PrintOrder(const NodeList& nodes)
      : nodes_(nodes), waiting_(static_cast<std::size_t>(nodes.size())) {
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string& output : nodes[i].output())
        if (!output.empty()) makers_.try_emplace(output, i);
    for (int i = 0; i < nodes.size(); ++i) add_edges(i);
    for (int i = 0; i < nodes.size(); ++i)
      if (waiting_[static_cast<std::size_t>(i)] == 0) ready_.insert(i);
  }

  std::vector<int> find() {
    std::vector<int> order;
    order.reserve(static_cast<std::size_t>(nodes_.size()));
    std::vector<bool> done(waiting_.size());
    while (!ready_.empty()) {
      const int next = order.empty() ? first() : best_after(order.back());
      ready_.erase(next);
      order.push_back(next);
      done[static_cast<std::size_t>(next)] = true;
      release(next);
    }
    for (int i = 0; i < nodes_.size(); ++i)
      if (!done[static_cast<std::size_t>(i)]) order.push_back(i);
    return order;
  }

 private:
  void add_edges(int node) {
    const auto names = trace::names_read(nodes_[node]);
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
      const auto maker = makers_.find(name);
      if (maker == makers_.end() || maker->second == node) continue;
      ++waiting_[static_cast<std::size_t>(node)];
      readers_[name].push_back(node);
    }
    const std::set<std::string> own(nodes_[node].input().begin(), nodes_[node].input().end());
    for (const std::string& name : own)
      if (makers_.contains(name)) consumers_[name].push_back(node);
  }

  int first() const {
    const auto key = [&](int node) {
      return std::tie(nodes_[node].op_type(), nodes_[node].name());
    };
    return *std::min_element(ready_.begin(), ready_.end(),
                             [&](int a, int b) { return key(a) < key(b); });
  }

  int best_after(int last) const {
    std::map<int, int> shared;  // By node: outputs of the last printed node that it reads.
    const auto& made = nodes_[last].output();
    for (const std::string& output : std::set<std::string>(made.begin(), made.end()))
      if (const auto found = consumers_.find(output); found != consumers_.end())
        for (const int node : found->second)
          if (ready_.contains(node)) ++shared[node];
    int best = *ready_.begin(), most = 0;
    for (const auto& [node, count] : shared)
      if (count > most) std::tie(best, most) = std::pair(node, count);
    return best;
  }

  void release(int node) {
    for (const std::string& output : nodes_[node].output()) {
      const auto maker = makers_.find(output);
      if (maker == makers_.end() || maker->second != node) continue;
      for (const int reader : readers_[output])
        if (--waiting_[static_cast<std::size_t>(reader)] == 0) ready_.insert(reader);
    }
  }

  const NodeList& nodes_;
  std::vector<int> waiting_;
  std::unordered_map<std::string, int> makers_;
  std::unordered_map<std::string, std::vector<int>> readers_;    // Including names in subgraphs.
  std::unordered_map<std::string, std::vector<int>> consumers_;  // By inputs alone.
  std::set<int> ready_;
};

}  // namespace

std::vector<int> print_order(const NodeList& nodes) { return PrintOrder(nodes).find(); }

std::vector<int> print_levels(const std::vector<const onnx::NodeProto*>& nodes,
                              const std::unordered_set<std::string>& given) {
  std::unordered_map<std::string, int> level_of;
  std::vector<int> levels;
  levels.reserve(nodes.size());
  std::set<std::string> last_inputs, last_outputs;
  int last = -1;
  for (const onnx::NodeProto* node : nodes) {
    std::set<std::string> inputs(node->input().begin(), node->input().end());
    int level = 0;
    if (last >= 0 && inputs == last_inputs) {
      level = last;
    } else {
      bool has_known = false, reads_last = false;
      for (const std::string& input : inputs) {
        reads_last |= last_outputs.contains(input);
        if (given.contains(input)) continue;
        const auto found = level_of.find(input);
        const int of_input = found == level_of.end() ? 0 : found->second;
        level = has_known ? std::min(level, of_input) : of_input;
        has_known = true;
      }
      const bool steps_back = has_known && last >= 0 && level < last;
      if (!steps_back && last >= 0 && !reads_last) level = 0;
    }
    for (const std::string& output : node->output()) level_of[output] = level + 1;
    levels.push_back(level);
    last = level;
    last_inputs = std::move(inputs);
    last_outputs = {node->output().begin(), node->output().end()};
  }
  return levels;
}

}  // namespace symprof::report
