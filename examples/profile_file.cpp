// Profiles a model file: profile_file MODEL [BATCH_SYMBOL=SIZE]
#include <exception>
#include <iostream>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "trace/passes/bind_inputs.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    symprof::Graph graph = symprof::trace::load(argv[1]);
    std::vector<std::pair<std::string, std::int64_t>> sizes;
    if (argc > 2) sizes.push_back(symprof::trace::parse_binding(argv[2]));
    symprof::trace::bind_inputs(graph, {}, sizes);

    symprof::StepOptions step;
    step.optimizer = symprof::Optimizer::adamw;
    step.device = symprof::find_device("h200", DEVICES);
    const symprof::Profile profile =
        symprof::profile::evaluate(symprof::shape::propagate(graph, step), step.device);

    for (const symprof::NodeProfile& node : profile.nodes) {
      const symprof::NodeRecord& row = profile.recording.nodes[node.node];
      std::cout << row.name << " " << row.op << " " << node.figures.fwd_product_flops << " FLOPs\n";
    }
    std::cout << "peak " << profile.totals.peak_allocated_bytes << " bytes, "
              << profile.totals.saved_bytes << " saved for backward\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
