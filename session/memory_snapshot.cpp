#include "session/memory_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
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

snapshot::AnalyzedSnapshot analyzed(const SnapshotAnswer& answer) {
  return {answer.snapshot, answer.sites, answer.device};
}

/// Where blocks go differs between these versions (profile/memory/allocator/allocator_settings.h).
constexpr std::array versions{"torch:2.11", "torch:2.12", "torch:2.13"};

std::vector<std::string> other_settings(const std::string& own, const std::string& measured) {
  std::vector<std::string> all;
  if (measured != own && !measured.empty()) all.push_back(measured);
  const std::size_t bases = all.size();
  for (const char* version : versions) {
    all.push_back(own.empty() ? version : own + "," + version);
    for (std::size_t i = 0; i < bases; ++i) all.push_back(all[i] + "," + version);
  }
  return all;
}

/// Empty where symprof does not know the settings, as those of a measured allocator may be.
std::optional<TriedSettings> tried_with(const std::string& conf, const SnapshotAnswer& measured,
                                        const PredictWith& predict) try {
  const SnapshotAnswer predicted = analyze_memory(predict(conf));
  const auto beside = snapshot::compare_with_prediction(analyzed(measured), analyzed(predicted));
  return TriedSettings{conf, beside.predicted.reserved.bytes};
} catch (const Error&) {
  return std::nullopt;
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

profile::LoopOptions loop_with(const Settings& settings, const std::string& alloc_conf) {
  profile::LoopOptions loop = settings.loop;
  if (alloc_conf == settings.alloc_conf) return loop;
  // What PYTORCH_ALLOC_CONF does not say stays.
  const profile::AllocatorSettings own =
      std::exchange(loop.allocator, profile::parse_allocator_settings(alloc_conf));
  loop.allocator.per_process_memory_fraction = own.per_process_memory_fraction;
  loop.allocator.up_front_bytes = own.up_front_bytes;
  return loop;
}

MeasuredMemory beside_prediction(SnapshotAnswer measured, const PredictWith& predict,
                                 const std::string& alloc_conf) {
  if (!has_requests(measured.device.history))
    throw Error(
        measured.snapshot.path, "has no requests to compare with those of the prediction.",
        "Record events: torch.cuda.memory._record_memory_history(), without enabled=\"state\".");
  MeasuredMemory both{std::move(measured), analyze_memory(predict(alloc_conf)), {}, {}};
  both.prediction =
      snapshot::compare_with_prediction(analyzed(both.measured), analyzed(both.predicted));
  const std::int64_t reserved = both.prediction.measured.reserved.bytes;
  if (!both.prediction.is_same_program() || both.prediction.predicted.reserved.bytes == reserved)
    return both;
  for (const std::string& conf : other_settings(alloc_conf, both.measured.snapshot.settings.conf))
    if (auto tried = tried_with(conf, both.measured, predict))
      both.tried.push_back(*std::move(tried));
  std::ranges::stable_sort(both.tried, {}, [&](const TriedSettings& one) {
    return std::abs(one.peak_reserved_bytes - reserved);
  });
  return both;
}

double SnapshotComparison::growth() const {
  const auto was = static_cast<double>(before.device.history.allocated.bytes);
  const auto is = static_cast<double>(after.device.history.allocated.bytes);
  if (was == 0) return is == 0 ? 0 : std::numeric_limits<double>::infinity();
  return is / was - 1;
}

}  // namespace symprof
