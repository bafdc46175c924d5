#include "report/onnx/listing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <regex>

#include "base/error.h"
#include "report/write/text_table.h"
#include "report/write/text_width.h"

namespace symprof::report {
namespace {

class ListingWriter {
 public:
  ListingWriter(fmt::memory_buffer& out, const ListingOptions& options)
      : out_(out), options_(options) {
    for (const std::string& title : options.costs.titles) widths_.push_back(title.size());
    for (const auto& [name, cells] : options.costs.cells)
      for (std::size_t i = 0; i < cells.size(); ++i)
        widths_[i] = std::max(widths_[i], cells[i].size());
    if (options.grep.empty()) return;
    try {
      pattern_.emplace(options.grep, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& error) {
      throw Error(SettingRef{"grep"}, fmt::format("'{}' is no regular expression", options.grep),
                  "Wanted: the syntax of JavaScript, such as 'MatMul|Gemm'.");
    }
  }

  void graph(const ListedGraph& graph) {
    line(emphasize(graph.title, Emphasis::strong, options_.layout.color));
    if (!pattern_) {
      for (const std::string& head : graph.heads) line(head);
      sections(graph.above);
    }
    nodes(graph.nodes);
    if (!pattern_) sections(graph.below);
  }

 private:
  void line(std::string_view text) {
    out_.append(text);
    out_.push_back('\n');
  }

  void sections(const std::vector<ListedGraph::Section>& sections) {
    for (const ListedGraph::Section& section : sections) {
      if (section.lines.empty()) continue;
      line("\n" + section.name);
      for (const std::string& text : section.lines) line("  " + text);
    }
  }

  void nodes(const std::vector<ListedNode>& nodes) {
    if (nodes.empty()) return;
    line("");
    if (!options_.costs.titles.empty()) line(cells(options_.costs.titles) + "nodes");
    const std::string* module = nullptr;
    for (const ListedNode& node : nodes) {
      const std::string text = fmt::format("{} -> {}", node.call, fmt::join(node.results, ", "));
      if (pattern_ && !std::regex_search(text, *pattern_) &&
          !std::regex_search(node.module, *pattern_) && !std::regex_search(node.name, *pattern_))
        continue;
      if (module ? node.module != *module : !node.module.empty()) heading(node);
      module = &node.module;
      line(cells(costs_of(node)) + (node.module.empty() ? "" : "  ") + text);
    }
  }

  void heading(const ListedNode& node) {
    const std::string type = node.module_type.substr(node.module_type.rfind('.') + 1);
    std::string text = node.module.empty() ? "(no module)" : node.module;
    if (!type.empty() && !node.module.empty()) text += " (" + type + ")";
    line(cells({}) + emphasize(text, Emphasis::strong, options_.layout.color));
  }

  const std::vector<std::string>& costs_of(const ListedNode& node) const {
    static const std::vector<std::string> none;
    const auto found = options_.costs.cells.find(node.name);
    return found == options_.costs.cells.end() ? none : found->second;
  }

  std::string cells(const std::vector<std::string>& texts) const {
    std::string out;
    for (std::size_t i = 0; i < widths_.size(); ++i)
      out += fmt::format("{:>{}}  ", i < texts.size() ? texts[i] : "", widths_[i]);
    return out;
  }

  fmt::memory_buffer& out_;
  const ListingOptions& options_;
  std::vector<std::size_t> widths_;
  std::optional<std::regex> pattern_;
};

}  // namespace

void write_listing(fmt::memory_buffer& out, const Listing& listing, const ListingOptions& options) {
  ListingWriter writer(out, options);
  for (std::size_t i = 0; i < listing.size(); ++i) {
    if (i > 0) out.push_back('\n');
    writer.graph(listing[i]);
  }
}

}  // namespace symprof::report
