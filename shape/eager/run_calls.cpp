#include "shape/eager/run_calls.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <exception>
#include <map>
#include <memory>
#include <string>

#include "meta/fake/fake_mode.h"
#include "shape/eager/traced_arguments.h"
#include "shape/step/matmul_precision.h"
#include "shape/step/recorder.h"

namespace symprof::shape {
namespace {

using Overloads = std::map<std::string, std::vector<c10::OperatorHandle>>;

Overloads overloads_of(const std::vector<OperatorCall>& calls) {
  Overloads overloads;
  for (const OperatorCall& call : calls) overloads[call.op];
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto wanted = overloads.find(name.name);
    if (wanted == overloads.end()) continue;
    if (const auto op = dispatcher.findSchema(name)) wanted->second.push_back(*op);
  }
  return overloads;
}

/// What the call records under this overload; no calls where it is not that.
Recording run(const OperatorCall& call, const c10::OperatorHandle& op, const StepOptions& options) {
  const auto recorder = std::make_shared<Recorder>();
  recorder->take_upper_bounds();
  recorder->recording().nodes.emplace_back();
  recorder->enter(Phase::forward, 0);
  const meta::FakeMode mode({.device = options.device}, recorder);
  const at::NoGradGuard no_gradients;
  try {
    auto stack = traced_arguments(call, op.schema());
    if (!stack) return {};
    op.callBoxed(*stack);
    stack->clear();
  } catch (const std::exception&) {
    return {};
  }
  return recorder->take();
}

}  // namespace

std::vector<Recording> run_calls(const std::vector<OperatorCall>& calls,
                                 const StepOptions& options) {
  const Overloads overloads = overloads_of(calls);
  const MatmulPrecisionRegion precision(options.float32_matmul_precision);
  std::vector<Recording> recordings(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const c10::OperatorHandle& op : overloads.at(calls[i].op)) {
      recordings[i] = run(calls[i], op, options);
      if (!recordings[i].calls.empty()) break;
    }
  return recordings;
}

}  // namespace symprof::shape
