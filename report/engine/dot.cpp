#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "report/engine/engine.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

/// `text` between quotes of graphviz's language.
std::string quoted_label(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    // Names may contain other control bytes, which a drawing omits.
    if (letter == '\n')
      result += "\\n";
    else if (static_cast<unsigned char>(letter) >= 0x20)
      result += letter;
  }
  return result + '"';
}

class EngineDrawing {
 public:
  EngineDrawing(fmt::memory_buffer& out, const EngineReport& report) : out_(out), report_(report) {
    for (const engine::LayerFigures& layer : report.summary.layers)
      longest_ms_ = std::max(longest_ms_, layer.measured_ms.value_or(0));
  }

  void draw() {
    print(
        "digraph engine {{\n  node [shape=box, style=filled, fillcolor=white, "
        "fontname=\"sans-serif\", "
        "fontsize=10];\n  graph [fontname=\"sans-serif\", fontsize=10, compound=true, "
        "newrank=true];\n");
    if (report_.map)
      draw_model();
    else
      draw_layers();
    print("}}\n");
  }

 private:
  template <class... Parts>
  void print(fmt::format_string<Parts...> form, Parts&&... parts) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<Parts>(parts)...);
  }

  /// White where a layer took no time, and the redder the more it took of the longest.
  std::string color_of(std::size_t layer) const {
    const auto& time = report_.summary.layers[layer].measured_ms;
    const double part = time && longest_ms_ > 0 ? *time / longest_ms_ : 0;
    return fmt::format("\"0.03 {:.3f} 1.000\"", 0.75 * part);
  }

  std::string title_of(std::size_t layer) const {
    const engine::Layer& found = report_.engine.layers[layer];
    std::string text = fmt::format("{} {}", layer, found.type.empty() ? found.name : found.type);
    if (const std::string types = precision(found); !types.empty()) text += "\n" + types;
    if (const auto& time = report_.summary.layers[layer].measured_ms)
      text += "\n" + format_time(*time * 1e3);
    return text;
  }

  /// Layers by themselves, joined by the names of their tensors.
  void draw_layers() {
    std::unordered_map<std::string_view, std::size_t> makers;
    for (std::size_t i = 0; i < report_.engine.layers.size(); ++i) {
      const engine::Layer& layer = report_.engine.layers[i];
      print("  l{} [label={}, fillcolor={}];\n", i,
            quoted_label(short_layer_name(layer) + "\n" + title_of(i)), color_of(i));
      for (const engine::Tensor& tensor : layer.outputs) makers.emplace(tensor.name, i);
    }
    for (std::size_t i = 0; i < report_.engine.layers.size(); ++i)
      for (const engine::Tensor& tensor : report_.engine.layers[i].inputs)
        if (const auto maker = makers.find(tensor.name); maker != makers.end())
          print("  l{} -> l{};\n", maker->second, i);
  }

  /// The layer whose cluster contains a node: the first of several. Its label names the others.
  int home_of(std::size_t node) const { return report_.map->nodes[node].first_layer(); }

  void draw_node(std::size_t node, const char* indent) {
    const engine::ModelNode& found = report_.model->nodes[node];
    const engine::NodeMapping& mapping = report_.map->nodes[node];
    std::string label = found.name + "\n" + found.op;
    for (std::size_t i = 1; i < mapping.layers.size(); ++i)
      label += fmt::format("{}{}", i == 1 ? "\nand in " : ", ", mapping.layers[i].layer);
    print("{}n{} [label={}{}];\n", indent, node, quoted_label(label),
          mapping.layers.empty() ? ", style=dashed" : "");
  }

  void draw_cluster(std::size_t layer) {
    print("  subgraph cluster_{} {{\n    label={};\n    style=filled;\n    fillcolor={};\n", layer,
          quoted_label(title_of(layer)), color_of(layer));
    for (const int node : report_.map->layers[layer].nodes)
      if (home_of(static_cast<std::size_t>(node)) == static_cast<int>(layer))
        draw_node(static_cast<std::size_t>(node), "    ");
    print("  }}\n");
  }

  /// The last node of the layer that produces the input of `layer`; -1 where no layer with nodes
  /// does.
  int node_before(std::size_t layer) const {
    for (const engine::Tensor& tensor : report_.engine.layers[layer].inputs)
      for (std::size_t i = 0; i < report_.engine.layers.size(); ++i) {
        const auto& outputs = report_.engine.layers[i].outputs;
        const bool makes = std::ranges::any_of(
            outputs, [&](const engine::Tensor& output) { return output.name == tensor.name; });
        if (makes && i != layer && !report_.map->layers[i].nodes.empty())
          return report_.map->layers[i].nodes.back();
      }
    return -1;
  }

  /// A layer without nodes: a reformat, or a helper. Edge to its consumer, or from its producer.
  void draw_helper(std::size_t layer) {
    const engine::LayerNodes& found = report_.map->layers[layer];
    print("  l{} [label={}, fillcolor={}, style=\"filled,rounded\"];\n", layer,
          quoted_label("(" + title_of(layer) + ")"), color_of(layer));
    int node = found.serves;
    if (found.owner >= 0 &&
        !report_.map->layers[static_cast<std::size_t>(found.owner)].nodes.empty())
      node = report_.map->layers[static_cast<std::size_t>(found.owner)].nodes.front();
    if (node >= 0)
      print("  l{} -> n{} [style=dotted, arrowhead=none];\n", layer, node);
    else if (const int before = node_before(layer); before >= 0)
      print("  n{} -> l{} [style=dotted, arrowhead=none];\n", before, layer);
  }

  void draw_model() {
    for (std::size_t i = 0; i < report_.engine.layers.size(); ++i) {
      const auto& nodes = report_.map->layers[i].nodes;
      const bool has_home = std::ranges::any_of(nodes, [&](int node) {
        return home_of(static_cast<std::size_t>(node)) == static_cast<int>(i);
      });
      if (has_home)
        draw_cluster(i);
      else
        draw_helper(i);
    }
    for (std::size_t i = 0; i < report_.model->nodes.size(); ++i)
      if (home_of(i) < 0) draw_node(i, "  ");
    for (std::size_t i = 0; i < report_.model->nodes.size(); ++i)
      for (const ValueId input : report_.model->nodes[i].inputs)
        if (const int maker = report_.model->producers[static_cast<std::size_t>(input)]; maker >= 0)
          print("  n{} -> n{};\n", maker, i);
  }

  fmt::memory_buffer& out_;
  const EngineReport& report_;
  double longest_ms_ = 0;
};

}  // namespace

void write_engine_dot(fmt::memory_buffer& out, const EngineReport& report) {
  EngineDrawing(out, report).draw();
}

}  // namespace symprof::report
