#include "session/traced_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "measure/kineto/kineto.h"
#include "profile/call_kernels.h"
#include "profile/operators/operators.h"
#include "profile/time/time_model.h"
#include "session/paths.h"
#include "session/torch_library.h"

namespace symprof {
namespace traced_kernels {
namespace {

using profile::Kernel;
using Times = std::map<Kernel, std::vector<double>>;

constexpr auto record_again =
    "Record it with torch.profiler.profile(activities=[ProfilerActivity.CPU, "
    "ProfilerActivity.CUDA], record_shapes=True), in PyTorch 2.5 or later, without CUDA graphs.";
/// A call of several kernels is a measurement of the one with this share of its estimate.
constexpr double fewest_share = 0.8;

bool has_rule(std::string_view op) { return profile::find_operator(op).launches != nullptr; }

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string names_of(const std::vector<measure::Trace>& traces) {
  return traces.size() == 1 ? traces.front().path : fmt::format("{} traces", traces.size());
}

/// The kernels of a recorded call with all that it calls; empty if one is unknown or a guess.
std::vector<Kernel> kernels_in(Recording recording, bool uses_tf32, const DeviceSpec& device) {
  for (CallRecord& call : recording.calls)
    call.tf32_products = call.tf32_convolutions = call.tf32_recurrent = uses_tf32;
  std::vector<Kernel> kernels;
  for (const profile::LaunchEstimate& launches : profile::kernels_of(recording, device)) {
    if (!launches || launches->is_rough) return {};
    std::ranges::copy(launches->kernels, std::back_inserter(kernels));
  }
  return kernels;
}

/// The kernel that a call is a measurement of, and its share of the call's time.
struct Main {
  Kernel kernel;
  double share = 1;
};

std::optional<Main> main_of(const std::vector<Kernel>& kernels, profile::TimeModel& model) {
  if (kernels.size() == 1) return Main{kernels.front()};
  double sum = 0, most = 0;
  const Kernel* longest = nullptr;
  for (const Kernel& kernel : kernels) {
    const auto estimate = model.estimate(kernel);
    if (!estimate) return std::nullopt;
    sum += estimate->us;
    if (estimate->us > most) longest = &kernel, most = estimate->us;
  }
  if (longest == nullptr || most < fewest_share * sum) return std::nullopt;
  return Main{*longest, most / sum};
}

void add(TracedKernels& found, Times& times, const measure::TracedCall& traced,
         const std::vector<Kernel>& kernels, profile::TimeModel& model) {
  const double us = sum_of(traced.us);
  const bool is_transfer = std::ranges::any_of(kernels, [](const Kernel& kernel) {
    return kernel.time_class == profile::TimeClass::transfer;
  });
  if (kernels.empty() || is_transfer) {
    found.other_us += us;
    return;
  }
  const std::optional<Main> main = main_of(kernels, model);
  if (!main) {
    found.several_classes_us += us;
    return;
  }
  found.used_us += us;
  for (const double one : traced.us) times[main->kernel].push_back(one * main->share);
}

measure::TracedCalls calls_of(const std::vector<measure::Trace>& traces) {
  measure::TracedCalls all;
  for (const measure::Trace& trace : traces) {
    measure::TracedCalls found = measure::traced_calls(trace, has_rule);
    std::ranges::move(found.calls, std::back_inserter(all.calls));
    all.time.total += found.time.total;
    all.time.graph += found.time.graph;
    all.time.no_operator += found.time.no_operator;
    all.time.overlapped += found.time.overlapped;
    all.time.no_arguments += found.time.no_arguments;
  }
  return all;
}

/// Says what the trace lacks.
[[noreturn]] void refuse(const std::vector<measure::Trace>& traces,
                         const measure::TracedTime& time) {
  if (time.total <= 0) throw Error(names_of(traces), "has no kernels of a GPU.", record_again);
  if (time.no_arguments > 0)
    throw Error(names_of(traces),
                "has no operator with the shapes, strides and numbers of its arguments.",
                record_again);
  throw Error(names_of(traces),
              "has no kernel that an operator with a known cost launched by itself.", record_again);
}

}  // namespace
}  // namespace traced_kernels

std::vector<measure::Trace> read_traces(const std::vector<std::string>& paths) {
  std::vector<measure::Trace> traces;
  traces.reserve(paths.size());
  for (const std::string& path : paths)
    traces.push_back(measure::read_kineto(path, measure::Arguments::kept));
  return traces;
}

measure::DeviceFacts device_of_traces(const std::vector<measure::Trace>& traces) {
  using namespace traced_kernels;
  std::string name;
  for (const measure::Trace& trace : traces) {
    if (trace.device_name.empty()) throw Error(trace.path, "names no GPU.", record_again);
    if (!name.empty() && name != trace.device_name)
      throw Error(
          trace.path,
          fmt::format("is of a '{}', and another trace of a '{}'.", trace.device_name, name),
          "Calibrate each device by itself.");
    name = trace.device_name;
  }
  return {.device = "cuda:0", .processor = name};
}

TracedKernels kernels_of_traces(const std::vector<measure::Trace>& traces,
                                const DeviceSpec& device) {
  using namespace traced_kernels;
  const measure::TracedCalls traced = calls_of(traces);
  if (traced.calls.empty()) refuse(traces, traced.time);
  std::vector<OperatorCall> calls;
  calls.reserve(traced.calls.size());
  for (const measure::TracedCall& one : traced.calls) calls.push_back(one.call);
  StepOptions options;
  options.device = device;
  std::vector<Recording> recordings = TorchLibrary().get().run_calls(calls, options);
  profile::TimeModel model = profile::time_model_of(device, data_sheet_path());
  TracedKernels found;
  found.time = traced.time;
  Times times;
  for (std::size_t i = 0; i < recordings.size(); ++i)
    add(found, times, traced.calls[i],
        kernels_in(std::move(recordings[i]), traced.calls[i].uses_tf32, device), model);
  found.calibration.facts = device_of_traces(traces);
  found.calibration.is_of_program = true;
  for (auto& [kernel, us] : times) {
    found.calls.push_back(us.size());
    found.calibration.kernels.push_back({kernel, median(us)});
  }
  return found;
}

}  // namespace symprof
