// A graph as readable lines: results with dtype and shape, small constants inline, module paths
// above their nodes.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "report/write/layout.h"
#include "trace/graph/graph.h"
#include "workbench/model.h"

namespace symprof::report {

struct ListedNode {
  std::string name;  ///< As in a profile's rows; may be empty.
  std::string module, module_type;
  std::string call;                  ///< "MatMul(x, w)".
  std::vector<std::string> results;  ///< "y: float32[2,8]".
};

/// A graph, a subgraph or a function.
struct ListedGraph {
  std::string title;
  std::vector<std::string> heads;  ///< Opsets and other lines at the top.
  struct Section {
    std::string name;
    std::vector<std::string> lines;
  };
  std::vector<Section> above, below;
  std::vector<ListedNode> nodes;
};

using Listing = std::vector<ListedGraph>;  ///< The main graph first.

/// Columns of figures: their titles, and cells by node name.
struct CostColumns {
  std::vector<std::string> titles;
  std::map<std::string, std::vector<std::string>> cells;
};

/// `title` is the file's name. Types are from infer_types().
Listing listing_of(const onnx::ModelProto& model, const std::string& title);
/// The same for a graph of any other format: .pt2, TorchScript.
Listing listing_of(const Graph& graph, const std::string& title);

struct ListingOptions {
  std::string grep;  ///< A regular expression: selects nodes whose line or module matches.
  CostColumns costs;
  Layout layout;
};

/// Writes a listing. Throws Error if `grep` is no regular expression.
void write_listing(fmt::memory_buffer& out, const Listing& listing, const ListingOptions& options);

}  // namespace symprof::report
