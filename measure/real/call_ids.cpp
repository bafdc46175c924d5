#include "measure/real/call_ids.h"

#include <utility>

namespace symprof::measure::real {

/// Suppresses nested operators on its thread during its lifetime.
struct CallIds::Open : at::ObserverContext {
  explicit Open(std::uint64_t number) : id(number) {}
  at::DisableRecordFunctionGuard without_inner;
  std::uint64_t id;
};

std::atomic<CallIds*> CallIds::current_ = nullptr;

// Autograd's engine runs backward on its own thread.
CallIds::CallIds(CallPlaces& places, cupti::Client& client, bool keeps_times)
    : places_(places),
      client_(client),
      keeps_times_(keeps_times),
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
    ids->calls_.push_back({.op = function.name(),
                           .node = place.node,
                           .phase = place.phase,
                           .begin_ns = ids->keeps_times_ ? ids->client_.now_ns() : 0});
  }
  ids->client_.push(id);
  return std::make_unique<Open>(id);
}

void CallIds::end(const at::RecordFunction&, at::ObserverContext* context) {
  CallIds* ids = current_;
  if (ids == nullptr || context == nullptr) return;
  ids->client_.pop();
  if (!ids->keeps_times_) return;
  const std::int64_t end_ns = ids->client_.now_ns();
  const std::lock_guard lock(ids->mutex_);
  const std::uint64_t index = static_cast<Open*>(context)->id - ids->first_id_;
  if (index < ids->calls_.size()) ids->calls_[index].end_ns = end_ns;
}

}  // namespace symprof::measure::real
