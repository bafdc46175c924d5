#include "measure/real/call_clock.h"

#include <algorithm>
#include <chrono>

#include "meta/fake/saved_tensors.h"

namespace symprof::measure::real {
namespace {

thread_local CallClock* current_clock = nullptr;

}  // namespace

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct CallClock::Open : at::ObserverContext {
  std::int64_t begin_ns = 0, inner_ns = 0;
  Open* around = nullptr;
};

CallClock::CallClock(std::size_t nodes)
    : handle_(
          at::addThreadLocalCallback(at::RecordFunctionCallback(&CallClock::begin, &CallClock::end)
                                         .scopes({at::RecordScope::FUNCTION}))),
      times_(nodes) {
  current_clock = this;
}

CallClock::~CallClock() {
  at::removeCallback(handle_);
  current_clock = nullptr;
}

void CallClock::enter(Phase phase, NodeId node) {
  phase_ = phase;
  node_ = node;
}

void CallClock::mark_sequence(NodeId node) {
  marks_.push_back({meta::next_sequence_number(), node});
}

std::vector<Times> CallClock::take() {
  marks_.clear();
  std::vector<Times> taken(times_.size());
  std::swap(taken, times_);
  return taken;
}

std::unique_ptr<at::ObserverContext> CallClock::begin(const at::RecordFunction&) {
  if (current_clock == nullptr) return nullptr;
  auto open = std::make_unique<Open>();
  open->around = current_clock->innermost_;
  current_clock->innermost_ = open.get();
  open->begin_ns = now_ns();
  return open;
}

void CallClock::end(const at::RecordFunction&, at::ObserverContext* context) {
  if (current_clock == nullptr || context == nullptr) return;
  const auto* open = static_cast<Open*>(context);
  const std::int64_t all = now_ns() - open->begin_ns;
  current_clock->innermost_ = open->around;
  if (open->around != nullptr) open->around->inner_ns += all;
  const NodeId node = current_clock->phase_ == Phase::backward ? current_clock->backward_node()
                                                               : current_clock->node_;
  if (node != none)
    current_clock->times_.at(static_cast<std::size_t>(node)).in(current_clock->phase_) +=
        all - open->inner_ns;
}

// As in a profile (shape/step/recorder.cpp): what has no number belongs to the node that ran last.
NodeId CallClock::backward_node() {
  const auto running = meta::current_backward_node();
  if (!running) return node_;
  const auto after =
      std::ranges::upper_bound(marks_, running->sequence_number, {}, &Mark::sequence);
  if (after != marks_.begin() && after != marks_.end() && std::prev(after)->node != none)
    node_ = std::prev(after)->node;
  return node_;
}

}  // namespace symprof::measure::real
