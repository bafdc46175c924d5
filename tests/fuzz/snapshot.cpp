// Any bytes as a memory snapshot: its history, what is said of it, and the snapshot beside itself,
// also as a prediction.
#include "target.h"

#include "base/error.h"
#include "snapshot/analysis.h"
#include "snapshot/compare.h"
#include "snapshot/prediction.h"
#include "snapshot/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  namespace snapshot = symprof::snapshot;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const snapshot::Snapshot read = snapshot::read_snapshot(bytes, "snapshot");
  const snapshot::Sites sites(read);
  for (std::size_t device = 0; device < read.traces.size(); ++device) {
    const snapshot::DeviceAnswer answer = snapshot::analyze(read, sites, device);
    snapshot::compare({answer.history, sites}, {answer.history, sites});
    const snapshot::AnalyzedSnapshot analyzed{read, sites, answer};
    snapshot::compare_with_prediction(analyzed, analyzed);
  }
  return 0;
} catch (const symprof::Error&) {
  return 0;
}
