#include "session/memory_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "snapshot/read.h"

namespace symprof {
namespace {

bool has_requests(const snapshot::History& history) {
  return std::ranges::any_of(history.requests, [](const snapshot::Request& request) {
    return request.begin != snapshot::no_event;
  });
}

}  // namespace

SnapshotAnswer read_memory(const std::string& path, std::optional<std::int64_t> device) {
  return analyze_memory(snapshot::read_snapshot(path), device);
}

SnapshotAnswer analyze_memory(snapshot::Snapshot read, std::optional<std::int64_t> device) {
  const std::string& path = read.path;
  if (read.traces.empty())
    throw Error(path, "has no device.", "Write it in a process that has used a GPU.");
  const auto devices = static_cast<std::int64_t>(read.traces.size());
  if (device && (*device < 0 || *device >= devices))
    throw Error(path, fmt::format("has devices 0 to {}, and no device {}.", devices - 1, *device),
                "Ask for one of those.");
  snapshot::Sites sites(read);
  const std::size_t chosen =
      device ? static_cast<std::size_t>(*device) : snapshot::busiest_device(read);
  snapshot::DeviceAnswer answer = snapshot::analyze(read, sites, chosen);
  return {std::move(read), std::move(sites), std::move(answer)};
}

SnapshotComparison compare_memory(const std::string& before, const std::string& after,
                                  std::optional<std::int64_t> device) {
  SnapshotComparison both{read_memory(before, device), read_memory(after, device), {}};
  both.comparison = snapshot::compare({both.before.device.history, both.before.sites},
                                      {both.after.device.history, both.after.sites});
  return both;
}

MeasuredMemory beside_prediction(SnapshotAnswer measured, snapshot::Snapshot predicted) {
  if (!has_requests(measured.device.history))
    throw Error(
        measured.snapshot.path, "has no requests to compare with those of the prediction.",
        "Record events: torch.cuda.memory._record_memory_history(), without enabled=\"state\".");
  MeasuredMemory both{std::move(measured), analyze_memory(std::move(predicted)), {}};
  const auto analyzed = [](const SnapshotAnswer& answer) {
    return snapshot::AnalyzedSnapshot{answer.snapshot, answer.sites, answer.device};
  };
  both.prediction =
      snapshot::compare_with_prediction(analyzed(both.measured), analyzed(both.predicted));
  return both;
}

double SnapshotComparison::growth() const {
  const auto was = static_cast<double>(before.device.history.allocated.bytes);
  const auto is = static_cast<double>(after.device.history.allocated.bytes);
  if (was == 0) return is == 0 ? 0 : std::numeric_limits<double>::infinity();
  return is / was - 1;
}

}  // namespace symprof
