#include "cli/model_output.h"

#include "base/error.h"
#include "session/onnx/models.h"

namespace symprof::cli {

void write_model(const OutputOptions& options, const workbench::Model& model,
                 const std::string& source) {
  if (options.file.empty())
    throw Error("-o", "a model is no text for a terminal.", "Name the file to write: -o OUT.onnx.");
  symprof::write_model(model, source, options.file);
}

}  // namespace symprof::cli
