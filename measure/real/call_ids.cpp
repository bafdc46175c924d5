#include "measure/real/call_ids.h"

#include <utility>

namespace symprof::measure::real {

/// While it lives, operators that this one calls on its thread are not reported.
struct CallIds::Open : at::ObserverContext {
  at::DisableRecordFunctionGuard without_inner;
};

std::atomic<CallIds*> CallIds::current_ = nullptr;

// Autograd's engine runs backward on a thread of its own.
CallIds::CallIds(CallPlaces& places, cupti::Client& client)
    : places_(places),
      client_(client),
      handle_(at::addGlobalCallback(at::RecordFunctionCallback(&CallIds::begin, &CallIds::end)
                                        .scopes({at::RecordScope::FUNCTION}))) {
  current_ = this;
}

CallIds::~CallIds() {
  at::removeCallback(handle_);
  current_ = nullptr;
}

CallIds::Calls CallIds::take() {
  const std::lock_guard lock(mutex_);
  Calls taken{.calls = std::exchange(calls_, {}), .first_id = first_id_};
  first_id_ += taken.calls.size();
  calls_.reserve(taken.calls.size());  // The next step makes as many.
  return taken;
}

std::unique_ptr<at::ObserverContext> CallIds::begin(const at::RecordFunction& function) {
  CallIds* ids = current_;
  if (ids == nullptr || !is_operator(function)) return nullptr;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(ids->mutex_);
    const CallPlaces::Place place = ids->places_.now();
    id = ids->first_id_ + ids->calls_.size();
    ids->calls_.push_back({.op = function.name(), .node = place.node, .phase = place.phase});
  }
  ids->client_.push(id);
  return std::make_unique<Open>();
}

void CallIds::end(const at::RecordFunction&, at::ObserverContext* context) {
  CallIds* ids = current_;
  if (ids != nullptr && context != nullptr) ids->client_.pop();
}

}  // namespace symprof::measure::real
