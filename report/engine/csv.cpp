#include <iterator>

#include "report/engine/engine.h"
#include "report/write/csv_field.h"

namespace symprof::report {
namespace {

std::string number_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "";
}

std::string number_text(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

void write_engine_csv(fmt::memory_buffer& out, const EngineReport& report) {
  const engine::Engine& engine = report.engine;
  const engine::EngineSummary& summary = report.summary;
  out.append(std::string_view(
      "layer,name,type,precision,has_kernel,is_reformat,is_quantizer,bytes_read,bytes_written,"
      "measured_ms,estimated_ms,least_ms\r\n"));
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    const engine::LayerFigures& figures = summary.layers[i];
    const engine::LayerCost cost = report.costs ? report.costs->layers[i] : engine::LayerCost{};
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{}\r\n", i,
                   csv_field(engine.layers[i].name), csv_field(engine.layers[i].type),
                   csv_field(engine::precision(engine.layers[i])), figures.has_kernel,
                   figures.is_reformat, figures.is_quantizer, number_text(figures.bytes_read),
                   number_text(figures.bytes_written), number_text(figures.measured_ms),
                   number_text(cost.estimated_ms), number_text(cost.least_ms));
  }
}

}  // namespace symprof::report
