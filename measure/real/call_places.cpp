#include "measure/real/call_places.h"

#include <ATen/SequenceNumber.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "meta/fake/saved_tensors.h"

namespace symprof::measure::real {

// torch/csrc/autograd/engine.cpp: "autograd::engine::evaluate_function: AddmmBackward0".
bool is_operator(const at::RecordFunction& function) {
  return !std::string_view(function.name()).starts_with("autograd::");
}

void CallPlaces::enter(Phase phase, NodeId node) {
  phase_ = phase;
  node_ = node;
}

// Autograd has a sequence counter per thread. Advances this thread's counter beyond the previous
// marks, so that a sequence number identifies its mark.
void CallPlaces::mark_sequence(NodeId node) {
  while (!marks_.empty() && meta::next_sequence_number() < marks_.back().sequence)
    at::sequence_number::get_and_increment();
  marks_.push_back({meta::next_sequence_number(), node});
}

void CallPlaces::begin_recompute(NodeId node) {
  recomputed_ = node;
  mark_sequence(node);
}

void CallPlaces::end_recompute() {
  mark_sequence(none);
  recomputed_ = none;
}

CallPlaces::Place CallPlaces::now() {
  if (recomputed_ != none) return {Phase::recompute, recomputed_};
  return {phase_, phase_ == Phase::backward ? backward_node() : node_};
}

// As in a profile (shape/step/recorder.cpp): operators without a sequence number belong to the last
// node.
NodeId CallPlaces::backward_node() {
  const auto running = meta::current_backward_node();
  if (!running) return node_;
  const auto after =
      std::ranges::upper_bound(marks_, running->sequence_number, {}, &Mark::sequence);
  if (after != marks_.begin() && after != marks_.end() && std::prev(after)->node != none)
    node_ = std::prev(after)->node;
  return node_;
}

}  // namespace symprof::measure::real
