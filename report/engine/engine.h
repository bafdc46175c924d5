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

/// What a report of an engine shows.
struct EngineReport {
  const engine::Engine& engine;
  const engine::EngineSummary& summary;
  const engine::Model* model = nullptr;  ///< Null where none was given; then `map` is, too.
  const engine::NodeMap* map = nullptr;
  std::vector<engine::Cause> causes;
  const engine::EngineCosts* costs = nullptr;  ///< Null where no device was named.
};

enum class EngineRows : std::uint8_t { layer, node, module };

struct EngineRowOptions {
  EngineRows by = EngineRows::layer;  ///< Rows of nodes and modules need a model.
  int depth = 0;                      ///< Of modules; 0: as deep as they are.
};

/// What was read, the rows, totals.
void write_engine_table(fmt::memory_buffer& out, const EngineReport& report,
                        const EngineRowOptions& rows, const Layout& layout);
/// The rows of each kind, as the table has them.
TextTable engine_layer_rows(const EngineReport& report);
TextTable engine_node_rows(const EngineReport& report);
TextTable engine_module_rows(const EngineReport& report, int depth);

/// One line a layer (RFC 4180); an empty field for what is not known.
void write_engine_csv(fmt::memory_buffer& out, const EngineReport& report);
/// Both engines' layers side by side, what differs in sum, and of layers that one of them alone
/// has, why it has them. Their models and costs are not read.
void write_engine_comparison(fmt::memory_buffer& out, const EngineReport& before,
                             const EngineReport& after, const Layout& layout);
void write_engine_comparison_json(fmt::memory_buffer& out, const EngineReport& before,
                                  const EngineReport& after);
/// One page: both engines' layers as bars of one scale, and the table.
void write_engine_comparison_html(fmt::memory_buffer& out, const EngineReport& before,
                                  const EngineReport& after);

/// Kernels that another model would not need; nothing where there is none.
void write_engine_causes(fmt::memory_buffer& out, const EngineReport& report);
/// Totals, and warnings.
void write_engine_footer(fmt::memory_buffer& out, const EngineReport& report);
/// "37 layers, 2 without a kernel; from inspector JSON".
std::string engine_title(const EngineReport& report);

/// "a + b + 3 more": a layer's name in the room of a table.
std::string short_layer_name(const engine::Layer& layer);
/// "layers 4, 7".
std::string layer_numbers(const std::vector<int>& layers);
/// "36.86 µs", or "?" where it is not known.
TextCell measured_cell(const std::optional<double>& milliseconds);

/// For graphviz: the model's nodes with a cluster for each layer, or, without a model, the layers;
/// the redder, the longer a layer took.
void write_engine_dot(fmt::memory_buffer& out, const EngineReport& report);
/// One page that needs no other file: a bar for each layer, what another model would not need, and
/// the table; with a model the table of its nodes, too.
void write_engine_html(fmt::memory_buffer& out, const EngineReport& report);
/// docs/reference/json.md names the members.
void write_engine_json(fmt::memory_buffer& out, const EngineReport& report);

}  // namespace symprof::report
