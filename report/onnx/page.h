// A page for a browser that shows a graph: pan, zoom, open and close modules and blocks, search,
// and the inputs, outputs and costs of each node.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workbench/draw/folded_graph.h"

namespace symprof::report {

/// Figures of nodes by name, in the order of their titles; -1 where one is not known.
struct PageCosts {
  struct Cell {
    std::int64_t number = -1;
    std::string text;  ///< The text in a table.
  };
  std::vector<std::string> titles;
  std::map<std::string, std::vector<Cell>> cells;
};

/// One self-contained file. `graph` should not be folded, and have details.
void write_page(fmt::memory_buffer& out, const workbench::FoldedGraph& graph,
                const PageCosts& costs, const std::string& title);

}  // namespace symprof::report
