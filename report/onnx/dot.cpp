#include "report/onnx/dot.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace symprof::report {
namespace {

using workbench::Arrow;
using workbench::Box;
using workbench::Cluster;
using workbench::FoldedGraph;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter == '\n' ? ' ' : letter;
  }
  return out;
}

std::string color_of_op(const Box& box) {
  constexpr std::string_view products[] = {"MatMul", "Gemm", "Conv", "Attention"};
  constexpr std::string_view moves[] = {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice",
                                        "Split",   "Concat",    "Expand",  "Flatten",   "Cast"};
  const auto has = [&](std::string_view word) { return box.label.find(word) != box.label.npos; };
  if (std::any_of(std::begin(products), std::end(products), has)) return "#f4b6b6";
  if (has("Norm")) return "#f6dfa4";
  if (std::any_of(std::begin(moves), std::end(moves), has)) return "#eeeeee";
  return "#cfe2f3";
}

/// From white to red by the share of the largest cost.
std::string color_of_cost(std::int64_t cost, std::int64_t most) {
  const double share = most == 0 ? 0 : static_cast<double>(cost) / static_cast<double>(most);
  const int pale = 255 - static_cast<int>(200 * share);
  return fmt::format("#ff{:02x}{:02x}", pale, pale);
}

class DotWriter {
 public:
  DotWriter(fmt::memory_buffer& out, const FoldedGraph& graph, const NodeCosts& costs)
      : out_(out),
        graph_(graph),
        costs_(costs),
        boxes_in_(graph.clusters.size()),
        clusters_in_(graph.clusters.size()) {
    for (const auto& [name, cost] : costs) most_ = std::max(most_, cost);
    for (std::size_t i = 0; i < graph.boxes.size(); ++i)
      boxes_in_[static_cast<std::size_t>(graph.boxes[i].cluster)].push_back(i);
    for (std::size_t i = 1; i < graph.clusters.size(); ++i)
      clusters_in_[static_cast<std::size_t>(graph.clusters[i].parent)].push_back(i);
  }

  void write() {
    // Straight lines and few rounds of the network simplex: dot needs minutes for thousands of
    // nodes without.
    line("digraph model {{");
    line(
        "  graph [rankdir=TB, splines=line, nslimit=1, mclimit=0.3, nodesep=0.2, ranksep=0.3, "
        "fontname=\"Helvetica\", fontsize=10]");
    line(
        "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=10, "
        "height=0.25, margin=\"0.08,0.03\"]");
    line("  edge [fontname=\"Helvetica\", fontsize=8, color=\"#666666\", arrowsize=0.6]");
    cluster(0, 1);
    for (const Arrow& arrow : graph_.arrows)
      line("  n{} -> n{} [label=\"{}\"{}]", arrow.from, arrow.to, escaped(arrow.type),
           arrow.to_next ? ", style=dashed, constraint=false, color=\"#3366cc\"" : "");
    line("}}");
  }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
    out_.push_back('\n');
  }

  void cluster(std::size_t index, std::size_t depth) {
    const Cluster& own = graph_.clusters[index];
    const std::string indent(2 * depth, ' ');
    if (index > 0) {
      line("{}subgraph cluster_{} {{", indent, index);
      line("{}  label=\"{}\"; style=\"rounded{}\"; color=\"{}\";", indent, escaped(own.label),
           own.times > 1 ? ",bold" : "", own.times > 1 ? "#3366cc" : "#bbbbbb");
    }
    for (const std::size_t inside : boxes_in_[index]) box(inside, indent);
    for (const std::size_t inside : clusters_in_[index]) cluster(inside, depth + 1);
    if (index > 0) line("{}}}", indent);
  }

  void box(std::size_t index, const std::string& indent) {
    const Box& box = graph_.boxes[index];
    std::string label = escaped(box.label);
    if (!box.note.empty()) label += "\\n" + escaped(box.note);
    line("{}  n{} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\"{}]", indent, index, label,
         escaped(box.name), color(box),
         box.kind == Box::Kind::shared ? ", style=\"rounded,dashed\"" : "");
  }

  std::string color(const Box& box) const {
    if (box.kind == Box::Kind::input) return "#aaeeaa";
    if (box.kind == Box::Kind::output) return "#aaaaee";
    if (costs_.empty()) return color_of_op(box);
    const auto found = costs_.find(box.name);
    return color_of_cost(found == costs_.end() ? 0 : found->second, most_);
  }

  fmt::memory_buffer& out_;
  const FoldedGraph& graph_;
  const NodeCosts& costs_;
  std::vector<std::vector<std::size_t>> boxes_in_, clusters_in_;  ///< By cluster.
  std::int64_t most_ = 0;
};

}  // namespace

void write_dot(fmt::memory_buffer& out, const FoldedGraph& graph, const NodeCosts& costs) {
  DotWriter(out, graph, costs).write();
}

}  // namespace symprof::report
