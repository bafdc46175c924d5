#include "session/onnx/models.h"

#include <memory>

#include "base/error.h"
#include "session/files.h"
#include "session/inference_settings.h"
#include "session/session.h"
#include "session/torch_library.h"

namespace symprof {

workbench::ValueRunner value_runner() {
  const auto torch = std::make_shared<TorchLibrary>();
  return {
      .run = [torch](const Graph& graph,
                     const auto& leaves) { return torch->measuring().values_of(graph, leaves); },
      .stream = [torch](
                    const Graph& graph, const auto& leaves,
                    const auto& sink) { torch->measuring().stream_values(graph, leaves, sink); },
      .bounds = [torch](const Graph& graph) { return torch->measuring().bounds_of_inputs(graph); },
      .script_weights =
          [torch](const std::string& path) { return torch->get().load_torchscript_weights(path); }};
}

workbench::Runnable open_runnable(const std::string& path, const std::vector<std::string>& sizes,
                                  const std::vector<std::string>& shapes,
                                  const workbench::ValueRunner& runner) {
  if (!workbench::is_archive(path))
    return workbench::runnable(*workbench::read_model(path, workbench::Weights::keep), path);
  const Settings settings = inference_settings(sizes, shapes);
  Session session(path);
  return workbench::runnable(session.prepare(settings).graph, path, runner);
}

void write_model(const workbench::Model& model, const std::string& source,
                 const std::string& file) {
  const std::string bytes = workbench::bytes_of(*model, source);
  workbench::bring_external_data(*model, source, file);
  write_file(file, bytes);
}

void check_is_onnx(const std::string& path, const std::string& verb) {
  if (workbench::is_archive(path))
    throw Error(path, "not an ONNX model; symprof " + verb + " works on these alone.",
                "Export the model with torch.onnx.export.");
}

}  // namespace symprof
