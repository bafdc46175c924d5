#include "cli/value_runner.h"

#include <memory>

#include "session/torch_library.h"

namespace symprof::cli {

workbench::ValueRunner value_runner() {
  const auto torch = std::make_shared<TorchLibrary>();
  return {
      .run = [torch](const Graph& graph,
                     const auto& leaves) { return torch->measuring().values_of(graph, leaves); },
      .stream = [torch](
                    const Graph& graph, const auto& leaves,
                    const auto& sink) { torch->measuring().stream_values(graph, leaves, sink); },
      .bounds = [torch](const Graph& graph) { return torch->measuring().bounds_of_inputs(graph); }};
}

}  // namespace symprof::cli
