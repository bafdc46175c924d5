#include "workbench/blocks.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>

#include "workbench/nodes.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

/// The longest block searched for: time grows quadratically.
constexpr int longest_block = 4000;
/// A limit of the node comparisons: a second of work.
constexpr std::int64_t most_comparisons = 400'000'000;
constexpr int least_nodes = 3;  ///< Shorter runs are noise, such as three Casts.

class BlockFinder {
 public:
  explicit BlockFinder(const std::vector<const onnx::NodeProto*>& nodes) {
    std::unordered_map<std::string, int> makers;
    kinds_.reserve(nodes.size());
    reads_.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      kinds_.push_back(kind(*nodes[i]));
      std::vector<int> reads;
      reads.reserve(static_cast<std::size_t>(nodes[i]->input_size()));
      for (const std::string& input : nodes[i]->input()) {
        const auto maker = makers.find(input);
        reads.push_back(maker == makers.end() ? (input.empty() ? -2 : -1) : maker->second);
      }
      reads_.push_back(std::move(reads));
      for (const std::string& output : nodes[i]->output())
        makers.emplace(output, static_cast<int>(i));
    }
  }

  std::vector<RepeatedBlock> find(int begin, int end, int most_length) const {
    std::vector<RepeatedBlock> blocks;
    if (end - begin < 2 * least_nodes) return blocks;
    RepeatedBlock best;
    int saved = 0;
    const int longest = std::min({(end - begin) / 2, most_length, longest_block});
    for (int length = least_nodes; length <= longest && comparisons_ < most_comparisons; ++length) {
      if (end - begin - length <= saved) break;  // Longer blocks cannot save more.
      look(begin, end, length, best, saved);
    }
    if (saved == 0) return blocks;
    blocks = find(begin, best.first, most_length);
    best.inside = find(best.first, best.first + best.length, best.length - 1);
    blocks.push_back(best);
    for (RepeatedBlock& block : find(best.first + best.length * best.times, end, most_length))
      blocks.push_back(std::move(block));
    return blocks;
  }

 private:
  static std::size_t kind(const onnx::NodeProto& node) {
    std::string text = qualified_op(node);
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      text += '|';
      // Tensors and graphs differ between copies, as initializers do.
      const bool large = attribute.has_t() || attribute.has_g();
      text += large ? attribute.name() : attribute.SerializeAsString();
    }
    return std::hash<std::string>()(text);
  }

  bool equal(int a, int b) const {
    if (kinds_[static_cast<std::size_t>(a)] != kinds_[static_cast<std::size_t>(b)]) return false;
    const auto &of_a = reads_[static_cast<std::size_t>(a)],
               &of_b = reads_[static_cast<std::size_t>(b)];
    if (of_a.size() != of_b.size()) return false;
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      if (of_a[i] == of_b[i] || (of_a[i] >= 0 && a - of_a[i] == b - of_b[i])) continue;
      // The first copy reads inputs from before the blocks, later ones the output of the previous
      // copy.
      if (of_b[i] < 0 || b - of_b[i] > 2 * (b - a)) return false;
    }
    return true;
  }

  void look(int begin, int end, int length, RepeatedBlock& best, int& saved) const {
    comparisons_ += end - begin;
    int run = 0;
    for (int i = begin; i + length <= end; ++i) {
      const bool same = i + length < end && equal(i, i + length);
      if (same) ++run;
      if (same) continue;
      const int times = run / length + 1;
      if (times >= 2 && (times - 1) * length > saved) {
        saved = (times - 1) * length;
        best = {i - run, length, times, {}};
      }
      run = 0;
    }
  }

  mutable std::int64_t comparisons_ = 0;
  std::vector<std::size_t> kinds_;
  std::vector<std::vector<int>> reads_;  // By input: its producer; negative: none.
};

}  // namespace

std::vector<const onnx::NodeProto*> nodes_in_order(const onnx::GraphProto& graph) {
  std::vector<const onnx::NodeProto*> nodes;
  nodes.reserve(static_cast<std::size_t>(graph.node_size()));
  for (const onnx::NodeProto& node : graph.node())
    if (!is_constant(node)) nodes.push_back(&node);
  return nodes;
}

std::vector<RepeatedBlock> repeated_blocks(const std::vector<const onnx::NodeProto*>& nodes) {
  return BlockFinder(nodes).find(0, static_cast<int>(nodes.size()), longest_block);
}

}  // namespace symprof::workbench
