// Profiles a model file: profile_file MODEL [BATCH_SYMBOL=SIZE]
#include <exception>
#include <iostream>

#include "profile/profile.h"
#include "session/session.h"
#include "session/setting_table.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    symprof::Session session(argv[1]);
    symprof::Settings settings;
    settings.step.optimizer = symprof::Optimizer::adamw;
    if (argc > 2) symprof::settings::set(settings, "sizes", argv[2]);
    const symprof::Profile profile = session.profile(settings);

    for (const symprof::NodeProfile& node : profile.nodes) {
      const symprof::NodeRecord& record = profile.recording.nodes[node.node];
      std::cout << record.name << " " << record.op << " " << node.figures.fwd_product_flops
                << " FLOPs\n";
    }
    std::cout << "peak " << profile.totals.peak_allocated_bytes << " bytes, "
              << profile.totals.saved_bytes << " saved for backward\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
