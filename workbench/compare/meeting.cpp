#include "workbench/compare/meeting.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace symprof::workbench {
namespace {

using Tensors = ValueRunner::Tensors;

/// Thrown through a runner to stop it when its result is no longer needed.
struct Stopped {};

std::size_t bytes_of(const Tensors& tensors) {
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) bytes += tensor->data.size();
  return bytes;
}

/// The values of a leaf; empty for a computed result.
std::optional<Tensors> leaf_of(const Side& side, ValueId id) {
  const Value& value = side.graph.value(id);
  if (value.kind == ValueKind::result) return std::nullopt;
  if (const auto leaf = side.leaves.find(value.name); leaf != side.leaves.end())
    return Tensors{leaf->second};
  if (value.constant) return Tensors{value.constant};
  return std::nullopt;
}

/// One run of both sides.
class Meeting {
 public:
  Meeting(const Side& a, const Side& b, double tolerance, std::size_t most,
          std::vector<ValuePair>& pairs)
      : a_(a),
        b_(b),
        tolerance_(tolerance),
        most_(most),
        pairs_(pairs),
        of_a_(a.graph.values.size()),
        of_b_(b.graph.values.size()),
        has_passed_(a.graph.values.size(), false),
        held_(pairs.size()) {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (pairs[k].is_compared) continue;
      of_a_[static_cast<std::size_t>(pairs[k].a)].push_back(k);
      of_b_[static_cast<std::size_t>(pairs[k].b)].push_back(k);
    }
  }

  /// Returns true if a value was dropped, so that its pair needs another run.
  bool run(const ValueRunner& runner_a, const ValueRunner& runner_b) {
    std::thread other([&] {
      guarded([&] {
        runner_a.stream(a_.graph, a_.leaves,
                        [&](ValueId id, const Tensors& values) { from_a(id, values); });
      });
      const std::scoped_lock lock(mutex_);
      a_is_done_ = true;
      changed_.notify_all();
    });
    guarded([&] {
      runner_b.stream(b_.graph, b_.leaves,
                      [&](ValueId id, const Tensors& values) { from_b(id, values); });
    });
    {
      const std::scoped_lock lock(mutex_);
      b_is_done_ = true;
      changed_.notify_all();
    }
    other.join();
    if (error_) std::rethrow_exception(error_);
    return has_dropped_;
  }

 private:
  template <class Run>
  void guarded(const Run& run) {
    try {
      run();
    } catch (const Stopped&) {
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  void compare(std::size_t pair, const Tensors& x, const Tensors& y) {
    pairs_[pair].difference = difference_of(x, y, tolerance_);
    pairs_[pair].is_compared = true;
  }

  void from_a(ValueId id, const Tensors& values) {
    bool must_wait = false;
    for (const std::size_t pair : of_a_[static_cast<std::size_t>(id)])
      if (const auto leaf = leaf_of(b_, pairs_[pair].b))
        compare(pair, values, *leaf);
      else
        must_wait = true;
    std::unique_lock lock(mutex_);
    if (error_) throw Stopped();
    if (must_wait) hold(id, values, lock);
    has_passed_[static_cast<std::size_t>(id)] = true;
    changed_.notify_all();
  }

  void hold(ValueId id, const Tensors& values, std::unique_lock<std::mutex>& lock) {
    const std::size_t bytes = bytes_of(values);
    const auto fits = [&] { return held_bytes_ == 0 || held_bytes_ + bytes <= most_; };
    changed_.wait(lock, [&] { return fits() || b_waits_ || b_is_done_ || error_; });
    if (error_) throw Stopped();
    // If B waits for this value, it is handed over instead of held.
    const bool is_wanted = wanted_ == id;
    if (!fits() && !is_wanted) {
      has_dropped_ = true;
      return;
    }
    for (const std::size_t pair : of_a_[static_cast<std::size_t>(id)])
      if (!pairs_[pair].is_compared) {
        held_[pair] = values;
        held_bytes_ += bytes;
      }
  }

  void from_b(ValueId id, const Tensors& values) {
    for (const std::size_t pair : of_b_[static_cast<std::size_t>(id)]) {
      if (const auto leaf = leaf_of(a_, pairs_[pair].a)) {
        compare(pair, *leaf, values);
        continue;
      }
      if (const auto theirs = wait_for(pair)) compare(pair, *theirs, values);
    }
    const std::scoped_lock lock(mutex_);
    if (error_) throw Stopped();
  }

  /// The values of A; empty if they were dropped.
  std::optional<Tensors> wait_for(std::size_t pair) {
    std::unique_lock lock(mutex_);
    const auto theirs = static_cast<std::size_t>(pairs_[pair].a);
    b_waits_ = true;
    wanted_ = pairs_[pair].a;
    changed_.notify_all();
    changed_.wait(lock, [&] { return has_passed_[theirs] || a_is_done_ || error_; });
    b_waits_ = false;
    wanted_ = no_value;
    if (error_) throw Stopped();
    std::optional<Tensors> values = std::move(held_[pair]);
    held_[pair].reset();
    if (values) held_bytes_ -= bytes_of(*values);
    changed_.notify_all();
    return values;
  }

  const Side &a_, &b_;
  double tolerance_ = 0;
  std::size_t most_ = 0;
  std::vector<ValuePair>& pairs_;
  std::vector<std::vector<std::size_t>> of_a_, of_b_;  ///< By ValueId: pairs.

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> has_passed_;  ///< By ValueId of A.
  std::vector<std::optional<Tensors>> held_;
  std::size_t held_bytes_ = 0;
  bool b_waits_ = false, a_is_done_ = false, b_is_done_ = false, has_dropped_ = false;
  ValueId wanted_ = no_value;
  std::exception_ptr error_;
};

}  // namespace

void compare_values(const Side& a, const ValueRunner& runner_a, const Side& b,
                    const ValueRunner& runner_b, double tolerance, std::size_t held_bytes,
                    std::vector<ValuePair>& pairs) {
  for (ValuePair& pair : pairs) {
    const auto x = leaf_of(a, pair.a), y = leaf_of(b, pair.b);
    if (!x || !y) continue;
    pair.difference = difference_of(*x, *y, tolerance);
    pair.is_compared = true;
  }
  const auto is_open = [](const ValuePair& pair) { return !pair.is_compared; };
  while (std::ranges::any_of(pairs, is_open))
    if (!Meeting(a, b, tolerance, held_bytes, pairs).run(runner_a, runner_b)) break;
}

}  // namespace symprof::workbench
