// An engine's layers as a table, CSV, JSON, a drawing and a page.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/causes.h"
#include "engine/compare.h"
#include "engine/costs.h"
#include "engine/engine.h"
#include "engine/map.h"
#include "engine/summary.h"
#include "report/write/layout.h"
#include "report/write/text_table.h"

namespace symprof::report {

/// The contents of an engine's report.
struct EngineReport {
  const engine::Engine& engine;
  const engine::EngineSummary& summary;
  const engine::Model* model = nullptr;  ///< Null without a model; then `map` is null, too.
  const engine::NodeMap* map = nullptr;
  std::vector<engine::Cause> causes;
  const engine::EngineCosts* costs = nullptr;  ///< Null where no device was named.
};

enum class EngineRows : std::uint8_t { layer, node, module };

struct EngineRowOptions {
  EngineRows by = EngineRows::layer;  ///< Rows of nodes and modules need a model.
  int depth = 0;                      ///< Module levels; 0: all.
};

/// The sources, the rows, totals.
void write_engine_table(fmt::memory_buffer& out, const EngineReport& report,
                        const EngineRowOptions& rows, const Layout& layout);
/// The rows of each kind, as the table has them.
TextTable engine_layer_rows(const EngineReport& report);
TextTable engine_node_rows(const EngineReport& report);
TextTable engine_module_rows(const EngineReport& report, int depth);

/// One line per layer (RFC 4180); an empty field for an unknown value.
void write_engine_csv(fmt::memory_buffer& out, const EngineReport& report);
/// Both engines' layers side by side, the sums of the differences, and the causes of layers that
/// only one of them has. Models and costs are not used.
void write_engine_comparison(fmt::memory_buffer& out, const EngineReport& before,
                             const EngineReport& after, const Layout& layout);
void write_engine_comparison_json(fmt::memory_buffer& out, const EngineReport& before,
                                  const EngineReport& after);
/// One page: both engines' layers as bars of one scale, and the table.
void write_engine_comparison_html(fmt::memory_buffer& out, const EngineReport& before,
                                  const EngineReport& after);

/// Kernels that another model would not need; writes nothing if there are none.
void write_engine_causes(fmt::memory_buffer& out, const EngineReport& report);
/// Totals, and warnings.
void write_engine_footer(fmt::memory_buffer& out, const EngineReport& report);
/// "37 layers, 2 without a kernel; from inspector JSON".
std::string engine_title(const EngineReport& report);

/// A layer's name shortened for a table: "a + b + 3 more".
std::string short_layer_name(const engine::Layer& layer);
/// "layers 4, 7".
std::string layer_numbers(const std::vector<int>& layers);
/// "36.86 µs", or "?" where it is not known.
TextCell measured_cell(const std::optional<double>& milliseconds);

/// For graphviz: the model's nodes with a cluster for each layer, or, without a model, the layers;
/// the redder, the longer a layer took.
void write_engine_dot(fmt::memory_buffer& out, const EngineReport& report);
/// One self-contained page: a bar for each layer, the kernels that another model would not need,
/// and the table; with a model also the table of its nodes.
void write_engine_html(fmt::memory_buffer& out, const EngineReport& report);
/// docs/reference/json.md names the members.
void write_engine_json(fmt::memory_buffer& out, const EngineReport& report);

}  // namespace symprof::report
