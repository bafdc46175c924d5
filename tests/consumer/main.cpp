// Profiles a model through the library: prints FLOPs, saved bytes and the peak.
#include <cstdio>
#include <exception>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "trace/passes/bind_inputs.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    symprof::Graph graph = symprof::trace::load(argv[1]);
    symprof::trace::bind_inputs(graph, {}, {});
    symprof::StepOptions step;
    step.device = symprof::find_device("h200", DEVICES);
    const symprof::Profile profile =
        symprof::profile::evaluate(symprof::shape::propagate(graph, step), step.device);
    std::printf("%lld FLOPs forward, %lld bytes saved, peak %lld\n",
                static_cast<long long>(profile.totals.fwd_flops),
                static_cast<long long>(profile.totals.saved_bytes),
                static_cast<long long>(profile.totals.peak_allocated_bytes));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
