#include "cli/model_pair.h"

#include "cli/command.h"
#include "cli/option_group.h"

namespace symprof::cli {

void add_model_pair(CLI::App& app, ModelPair& models) {
  app.add_option("A", models.a, model_file)->required()->type_name("");
  app.add_option("B", models.b, "Another one, of any of these formats")->required()->type_name("");
  const OptionGroup inputs(app, "Inputs");
  inputs.add_each(
      "--inputs", models.inputs, "FILE",
      "Input values in numpy's formats: NAME=FILE.npy or FILE.npz (repeatable; default: random)");
  inputs.add_each("--set", models.sizes, "NAME=SIZE",
                  "Size of a symbolic dimension (repeatable; default: 2, 3, …)");
  inputs.add_each("--input", models.shapes, "NAME=DTYPE[DIMS]",
                  "Shape of an input of a TorchScript file (repeatable)");
  inputs.add("--seed", models.seed, "N", "Other random inputs for another seed (0)");
  inputs.add_flag("--random-weights", models.random_weights,
                  "The same random weights for both, by name: only the graphs are compared");
  OptionGroup(app, "Rows")
      .add("--functions", models.functions, "HOW",
           "Local functions of ONNX models: keep (a call is a row), inline, or a glob of "
           "those to inline");
  inputs.add(
      "--backend", models.backend, "WHICH",
      "Runs the models: torch (symprof's interpreter) or onnxruntime (ONNX Runtime's library, if "
      "installed), or one for each side: torch:onnxruntime");
}

}  // namespace symprof::cli
