// An engine's layers as a table, as CSV and as JSON.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "engine/causes.h"
#include "engine/engine.h"
#include "engine/map.h"
#include "engine/summary.h"
#include "report/layout.h"
#include "report/text_table.h"

namespace symprof::report {

/// What a report of an engine shows.
struct EngineReport {
  const engine::Engine& engine;
  const engine::EngineSummary& summary;
  const engine::Model* model = nullptr;  ///< Null where none was given; then `map` is, too.
  const engine::NodeMap* map = nullptr;
  std::vector<engine::Cause> causes;
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
/// docs/json.md names the members.
void write_engine_json(fmt::memory_buffer& out, const EngineReport& report);

}  // namespace symprof::report
