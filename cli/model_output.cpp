#include "cli/model_output.h"

#include "base/error.h"

namespace symprof::cli {

void write_model(const OutputOptions& options, const workbench::Model& model,
                 const std::string& source) {
  if (options.file.empty())
    throw Error("-o", "a model is no text for a terminal.", "Name the file to write: -o OUT.onnx.");
  const std::string bytes = workbench::bytes_of(*model, source);
  workbench::bring_external_data(*model, source, options.file);
  write_output(options, bytes, Readers::programs);
}

}  // namespace symprof::cli
