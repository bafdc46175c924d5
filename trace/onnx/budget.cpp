#include "trace/onnx/budget.h"

#include <fmt/format.h>

#include "base/error.h"

namespace symprof::trace {
namespace {

/// Some 600 000 nodes with short names.
constexpr std::size_t most_bytes = std::size_t{1} << 28;
/// Approximate size of a node or value without its strings.
constexpr std::size_t bytes_each = 200, bytes_of_entry = 64;
constexpr int deepest_call = 200;

}  // namespace

void GraphBudget::spend(std::size_t bytes, const std::string& path) {
  spent_ += bytes_each + bytes;
  if (spent_ <= most_bytes) return;
  throw Error(path,
              fmt::format("the graph takes more than {} MiB once its functions are inlined",
                          most_bytes >> 20),
              "Functions that call one another multiply: export the model without them.");
}

void GraphBudget::spend_entries(int count, const std::string& path) {
  spend(static_cast<std::size_t>(count) * bytes_of_entry, path);
}

GraphBudget::Level::Level(GraphBudget& budget, const std::string& path) : budget_(budget) {
  if (budget.depth_ >= deepest_call)
    throw Error(
        path,
        fmt::format("function calls and subgraphs are nested more than {} deep", deepest_call),
        "Export the model with fewer local functions.");
  ++budget.depth_;
}

}  // namespace symprof::trace
