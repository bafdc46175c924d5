#include "cli/model_pair.h"
#include "cli/option_group.h"

namespace symprof::cli {

void add_model_pair(CLI::App& app, ModelPair& models) {
  app.add_option("A", models.a, "A model: .onnx, .pt2 (torch.export) or .pt (TorchScript)")
      ->required()
      ->type_name("");
  app.add_option("B", models.b, "Another one, of any of these formats")->required()->type_name("");
  const OptionGroup inputs(app, "Inputs");
  inputs.add_each(
      "--inputs", models.inputs, "FILE",
      "Values of inputs that numpy saved: NAME=FILE.npy or FILE.npz (repeatable); random without");
  inputs.add_each("--set", models.sizes, "NAME=SIZE",
                  "Size of a symbolic dimension (2, 3, … without; repeatable)");
  inputs.add_each("--input", models.shapes, "NAME=DTYPE[DIMS]",
                  "Shape of an input that a TorchScript file does not tell (repeatable)");
  inputs.add("--seed", models.seed, "N", "Other random inputs for another seed (0)");
  inputs.add_flag("--random-weights", models.random_weights,
                  "The same random weights for both, by name: only the graphs are compared");
  OptionGroup(app, "Rows")
      .add("--functions", models.functions, "HOW",
           "Local functions of ONNX models: keep (a call is a row), inline, or a glob of "
           "those to inline");
  inputs.add("--backend", models.backend, "WHICH",
             "What computes values: torch (symprof's interpreter) or onnxruntime (ONNX Runtime's "
             "library, where it is here), or one for each side: torch:onnxruntime");
}

}  // namespace symprof::cli
