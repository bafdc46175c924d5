#include "cli/model_pair.h"

namespace symprof::cli {

void add_model_pair(CLI::App& app, ModelPair& models) {
  app.add_option("A", models.a, "A model: .onnx, .pt2 (torch.export) or .pt (TorchScript)")
      ->required()
      ->type_name("");
  app.add_option("B", models.b, "Another one, of any of these formats")->required()->type_name("");
  const auto add = [&](const char* name, std::vector<std::string>& texts, const char* help,
                       const char* type) {
    app.add_option(name, texts, help)->type_name(type)->allow_extra_args(false)->group("Inputs");
  };
  add("--inputs", models.inputs,
      "Values of inputs that numpy saved: NAME=FILE.npy or FILE.npz (repeatable); random without",
      "FILE");
  add("--set", models.sizes, "Size of a symbolic dimension (2, 3, … without; repeatable)",
      "NAME=SIZE");
  add("--input", models.shapes,
      "Shape of an input that a TorchScript file does not tell (repeatable)", "NAME=DTYPE[DIMS]");
  app.add_option("--seed", models.seed, "Other random inputs for another seed (0)")
      ->type_name("N")
      ->group("Inputs");
  app.add_flag("--random-weights", models.random_weights,
               "The same random weights for both, by name: only the graphs are compared")
      ->group("Inputs");
  app.add_option("--functions", models.functions,
                 "Local functions of ONNX models: keep (a call is a row), inline, or a glob of "
                 "those to inline")
      ->type_name("HOW")
      ->group("Rows");
  app.add_option(
         "--backend", models.backend,
         "What computes values: torch (symprof's interpreter) or onnxruntime (ONNX Runtime's "
         "library, where it is here), or one for each side: torch:onnxruntime")
      ->type_name("WHICH")
      ->group("Inputs");
}

}  // namespace symprof::cli
