#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/engine/engine.h"
#include "report/profile/timeline_svg.h"
#include "report/write/format_number.h"
#include "report/write/html_head.h"

namespace symprof::report {
namespace {

constexpr std::string_view engine_style = R"( summary { cursor: pointer; color: var(--faint); }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .axis { fill: var(--faint); text-anchor: end; } .line { stroke: var(--line); }
.kernel { fill: #4878a8; } .reformat { fill: #e0a030; } .quantizer { fill: #c0443c; }
svg g:hover rect { fill-opacity: .7; }
.legend span { margin-right: 1.2rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
pre { font: 12.5px/1.45 ui-monospace, Menlo, Consolas, monospace; overflow-x: auto; }
</style>
)";

constexpr double page_width = 1100, page_height = 260, axis_width = 80, axis_height = 24;

/// One bar a layer, in the order in which they run: its time, or, without times, its bytes.
class LayerBars {
 public:
  explicit LayerBars(const EngineReport& report) : report_(report) {
    for (std::size_t i = 0; i < report.summary.layers.size(); ++i)
      most_ = std::max(most_, height_of(i));
  }

  bool is_empty() const { return most_ <= 0; }
  double most() const { return most_; }
  /// Bars are as high as if the highest were of `most`.
  void scale_to(double most) { most_ = most; }

  void write(fmt::memory_buffer& out) const {
    const auto at = std::back_inserter(out);
    const double foot = page_height - axis_height;
    fmt::format_to(at, "<svg viewBox=\"0 0 {} {}\">\n", page_width, page_height);
    for (const double part : {1.0, 0.5, 0.0}) {
      const double y = foot - part * (foot - 10);
      fmt::format_to(at,
                     "<path class=\"line\" d=\"M{} {:.1f}H{}\"/><text class=\"axis\" x=\"{}\" "
                     "y=\"{:.1f}\">{}</text>\n",
                     axis_width, y, page_width, axis_width - 6, y + 4, amount(part * most_));
    }
    for (std::size_t i = 0; i < report_.summary.layers.size(); ++i) write_bar(out, i);
    fmt::format_to(at, "<text x=\"{}\" y=\"{}\">layers, in the order in which they run</text>\n",
                   axis_width, page_height - 6);
    out.append(std::string_view("</svg>\n"));
  }

 private:
  double height_of(std::size_t layer) const {
    const engine::LayerFigures& figures = report_.summary.layers[layer];
    if (report_.summary.has_times) return figures.measured_ms.value_or(0);
    return static_cast<double>(bytes_moved(figures).value_or(0));
  }

  std::string amount(double height) const {
    return report_.summary.has_times ? format_time(height * 1e3)
                                     : format_bytes(std::llround(height));
  }

  void write_bar(fmt::memory_buffer& out, std::size_t layer) const {
    const engine::LayerFigures& figures = report_.summary.layers[layer];
    if (!figures.has_kernel) return;
    const double foot = page_height - axis_height;
    const double step =
        (page_width - axis_width) / static_cast<double>(report_.summary.layers.size());
    const double height = (foot - 10) * height_of(layer) / most_;
    const char* kind = figures.is_reformat    ? "reformat"
                       : figures.is_quantizer ? "quantizer"
                                              : "kernel";
    std::string title =
        fmt::format("{} {}\n{} {}", layer, short_layer_name(report_.engine.layers[layer]),
                    report_.engine.layers[layer].type, amount(height_of(layer)));
    if (const std::string types = precision(report_.engine.layers[layer]); !types.empty())
      title += "\n" + types;
    fmt::format_to(std::back_inserter(out),
                   "<g><title>{}</title><rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" "
                   "width=\"{:.2f}\" height=\"{:.2f}\"/></g>\n",
                   escaped(title), kind, axis_width + step * static_cast<double>(layer),
                   foot - height, std::max(step * 0.85, 0.5), height);
  }

  const EngineReport& report_;
  double most_ = 0;
};

void write_legend(fmt::memory_buffer& out) {
  out.append(std::string_view(
      "<p class=\"legend\"><span><i style=\"background:#4878a8\"></i>layers of the model</span>"
      "<span><i style=\"background:#e0a030\"></i>reformats</span><span><i "
      "style=\"background:#c0443c\"></i>Q and DQ that no layer took in</span></p>\n"));
}

void write_bars(fmt::memory_buffer& out, const LayerBars& bars, std::string_view heading) {
  fmt::format_to(std::back_inserter(out), "<h2>{}</h2>\n", heading);
  bars.write(out);
}

std::string_view measure_of(const EngineReport& report) {
  return report.summary.has_times ? "Measured time of each layer" : "Bytes moved of each layer";
}

void write_text(fmt::memory_buffer& out, std::string_view heading, const fmt::memory_buffer& text) {
  fmt::format_to(std::back_inserter(out), "<h2>{}</h2>\n<pre>{}</pre>\n", heading,
                 escaped({text.data(), text.size()}));
}

}  // namespace

void write_engine_html(fmt::memory_buffer& out, const EngineReport& report) {
  const std::string path = escaped(report.engine.path);
  fmt::format_to(std::back_inserter(out), "{}<p>{}.</p>\n", html_head(path, engine_style),
                 escaped(engine_title(report)));
  const LayerBars bars(report);
  if (!bars.is_empty()) {
    write_bars(out, bars, measure_of(report));
    write_legend(out);
  }
  fmt::memory_buffer footer, rows;
  write_engine_footer(footer, report);
  write_engine_causes(footer, report);
  write_text(out, "In sum", footer);
  write(rows, engine_layer_rows(report), {});
  write_text(out, "Layers", rows);
  if (report.map) {
    fmt::memory_buffer nodes;
    write(nodes, engine_node_rows(report), {});
    write_text(out, "Nodes of the model", nodes);
  }
  out.append(std::string_view("</body>\n</html>\n"));
}

void write_engine_comparison_html(fmt::memory_buffer& out, const EngineReport& before,
                                  const EngineReport& after) {
  const std::string path = escaped(before.engine.path + " and " + after.engine.path);
  fmt::format_to(std::back_inserter(out), "{}<p>A: {}. B: {}.</p>\n", html_head(path, engine_style),
                 escaped(engine_title(before)), escaped(engine_title(after)));
  LayerBars a(before), b(after);
  // Heights that are not of the same are not compared.
  if (before.summary.has_times == after.summary.has_times && !a.is_empty() && !b.is_empty()) {
    const double most = std::max(a.most(), b.most());
    a.scale_to(most);
    b.scale_to(most);
    write_bars(out, a, fmt::format("{}: A", measure_of(before)));
    write_bars(out, b, fmt::format("{}: B", measure_of(after)));
    write_legend(out);
  }
  fmt::memory_buffer rows;
  write_engine_comparison(rows, before, after, {});
  write_text(out, "Layers side by side", rows);
  out.append(std::string_view("</body>\n</html>\n"));
}

}  // namespace symprof::report
