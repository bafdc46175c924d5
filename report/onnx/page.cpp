#include "report/onnx/page.h"

#include "report/onnx/page_script.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using workbench::Arrow;
using workbench::Box;
using workbench::Cluster;
using workbench::FoldedGraph;

std::string for_html(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&')
      out += "&amp;";
    else if (letter == '<')
      out += "&lt;";
    else
      out += letter;
  }
  return out;
}

/// JSON has this letter only in texts, and there it must not close the script.
void append_for_script(fmt::memory_buffer& out, std::string_view json) {
  for (const char letter : json)
    if (letter == '<')
      out.append(std::string_view("\\u003c"));
    else
      out.push_back(letter);
}

void write_box(JsonWriter& json, const Box& box, const PageCosts& costs) {
  constexpr const char* kinds[] = {"node", "input", "output", "shared"};
  json.line(0);
  json.begin_object();
  json.member("k", std::string_view(kinds[static_cast<std::size_t>(box.kind)]));
  json.member("l", std::string_view(box.label));
  json.member("t", std::string_view(box.note));
  json.member("n", std::string_view(box.name));
  json.member("c", box.cluster);
  if (!box.attributes.empty()) json.list("a", box.attributes);
  if (!box.inputs.empty()) json.list("i", box.inputs);
  if (!box.outputs.empty()) json.list("o", box.outputs);
  const auto cells = costs.cells.find(box.name);
  if (box.kind == Box::Kind::node && cells != costs.cells.end()) {
    json.key("v");
    json.begin_array();
    for (const PageCosts::Cell& cell : cells->second) json.value(cell.number);
    json.end_array();
    json.key("w");
    json.begin_array();
    for (const PageCosts::Cell& cell : cells->second) json.value(std::string_view(cell.text));
    json.end_array();
  }
  json.end_object();
}

void write_data(fmt::memory_buffer& out, const FoldedGraph& graph, const PageCosts& costs) {
  JsonWriter json(out);
  json.begin_object();
  json.list("costs", costs.titles);
  json.key("clusters");
  json.begin_array();
  for (const Cluster& cluster : graph.clusters) {
    json.begin_object();
    json.member("l", std::string_view(cluster.label));
    json.member("p", cluster.parent);
    json.end_object();
  }
  json.end_array();
  json.key("boxes");
  json.begin_array();
  for (const Box& box : graph.boxes) write_box(json, box, costs);
  json.end_array();
  json.key("arrows");
  json.begin_array();
  for (const Arrow& arrow : graph.arrows) {
    json.begin_array();
    json.value(arrow.from);
    json.value(arrow.to);
    json.value(std::string_view(arrow.type));
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

void write_page(fmt::memory_buffer& out, const FoldedGraph& graph, const PageCosts& costs,
                const std::string& title) {
  const auto print = [&](std::string_view text) { out.append(text); };
  print("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
  print(for_html(title));
  print(": symprof</title>\n");
  print(page_style);
  print("</head>\n<body>\n");
  print(page_body);
  print("<script id=\"data\" type=\"application/json\">");
  fmt::memory_buffer data;
  write_data(data, graph, costs);
  append_for_script(out, {data.data(), data.size()});
  print("</script>\n<script>");
  print(page_layout);
  print(page_view);
  print("</script>\n</body>\n</html>\n");
}

}  // namespace symprof::report
