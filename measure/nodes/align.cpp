#include "measure/nodes/align.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace symprof::measure::nodes {
namespace {

/// Prefixes of libraries and internals before the operator's name.
constexpr std::string_view prefixes[] = {"_",     "cudnn_",  "native_", "mkldnn_",
                                         "thnn_", "miopen_", "slow_"};

bool strip_prefix(std::string_view& name) {
  for (const std::string_view prefix : prefixes)
    if (name.size() > prefix.size() && name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      return true;
    }
  return false;
}

bool share_one(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    const int order = left->compare(*right);
    if (order == 0) return true;
    order < 0 ? ++left : ++right;
  }
  return false;
}

using Sizes = std::vector<std::int64_t>;

/// True if the sizes are equal, except possibly the batch.
bool is_like(const Sizes& a, const Sizes& b) {
  if (a.size() != b.size()) return false;
  return a == b || (a.size() > 1 && std::equal(a.begin() + 1, a.end(), b.begin() + 1));
}

/// 0 to 1: the share of the model's tensors found in the run's operator.
float likeness(const Step& node, const Step& op) {
  if (node.sizes.empty() || op.sizes.empty()) return 0.5F;
  int found = 0;
  for (const Sizes& wanted : node.sizes)
    if (std::ranges::any_of(op.sizes, [&](const Sizes& sizes) { return is_like(wanted, sizes); }))
      ++found;
  return static_cast<float>(found) / static_cast<float>(node.sizes.size());
}

/// 0: no match. Names weigh more than shapes, because batch and sequence may differ.
float score(const Step& node, const Step& op) {
  if (!share_one(node.family, op.family)) return 0;
  return 1 + 2 * likeness(node, op) + (node.name == op.name ? 1.0F : 0.0F);
}

enum Move : char { match, skip_node, skip_op };

}  // namespace

std::string family_of(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  std::string_view name = colons == std::string_view::npos ? op : op.substr(colons + 2);
  while (strip_prefix(name)) {
  }
  while (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);  // In place.
  // The device chooses the attention kernel.
  if (name.starts_with("scaled_dot_product") || name.find("_attention_forward") != name.npos)
    return "attention";
  // Old names of ATen's convolution.
  if (name.starts_with("conv") && name.size() <= 6) return "convolution";
  return std::string(name);
}

void tidy(std::vector<std::string>& family) {
  std::ranges::sort(family);
  family.erase(std::unique(family.begin(), family.end()), family.end());
}

std::vector<std::int32_t> align(const std::vector<Step>& model, const std::vector<Step>& run) {
  constexpr std::size_t most_cells = std::size_t{1} << 30;
  const std::size_t nodes = model.size(), ops = run.size();
  if (nodes > 0 && ops > most_cells / nodes)
    throw Error("the recording",
                fmt::format("has {} operators in one step, too many to be compared with {} nodes.",
                            ops, nodes),
                "Mark steps with the profiler's step(), so that one is compared at a time.");
  std::vector<char> moves((nodes + 1) * (ops + 1), skip_op);
  std::vector<float> above(ops + 1, 0), row(ops + 1, 0);
  for (std::size_t i = 1; i <= nodes; ++i) {
    char* move = moves.data() + i * (ops + 1);
    move[0] = skip_node;
    for (std::size_t j = 1; j <= ops; ++j) {
      row[j] = above[j], move[j] = skip_node;
      if (row[j - 1] > row[j]) row[j] = row[j - 1], move[j] = skip_op;
      const float gain = score(model[i - 1], run[j - 1]);
      if (gain > 0 && above[j - 1] + gain > row[j]) row[j] = above[j - 1] + gain, move[j] = match;
    }
    std::swap(above, row);
  }
  std::vector<std::int32_t> result(ops, -1);
  for (std::size_t i = nodes, j = ops; i > 0 && j > 0;) {
    const char move = moves[i * (ops + 1) + j];
    if (move == match) result[j - 1] = static_cast<std::int32_t>(i - 1);
    if (move != skip_op) --i;
    if (move != skip_node) --j;
  }
  return result;
}

}  // namespace symprof::measure::nodes
