// Lower bounds on memory: which bytes of a step are allocated at each call whatever is recomputed,
// and which bytes each region's recomputation decides about.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/checkpoint/shared_steps.h"
#include "plan/checkpoint/trial.h"
#include "profile/memory/segment_weights.h"

namespace symprof::plan {

/// Sums bytes over spans of calls.
class Sums {
 public:
  explicit Sums(std::size_t calls) : changes_(calls + 1) {}

  void add(const Span& span, std::int64_t bytes);
  std::vector<std::int64_t> by_call() const;

 private:
  std::vector<std::int64_t> changes_;
};

enum class Pool : std::uint8_t { all, small, large };

/// Calls are numbered as in SharedCalls: only calls that all recordings have in common.
class CertainBytes {
 public:
  /// `weights` are those of the pool; null: blocks of all pools count, in bytes. Both must outlive
  /// this.
  CertainBytes(const SharedSteps& steps, Pool pool, const profile::SegmentWeights* weights);

  /// The weight of a block; 0 if it belongs to another pool.
  std::int64_t weight(std::int64_t bytes) const;
  /// By call: bytes that every plan holds, except where it recomputes regions: the plain step's
  /// bytes minus those that some other plan might not hold. The bytes that difference() and freed()
  /// subtract are included. `held_bytes` is by call of the plain recording.
  std::vector<std::int64_t> held(const std::vector<HeldBytes>& held_bytes) const;
  /// By call: the bytes freed by recomputing the module and keeping its inputs alone. Negative
  /// where the recomputation holds more than the plain step.
  std::vector<std::int64_t> difference(std::size_t module) const;
  /// difference(), with negative values replaced by 0.
  std::vector<std::int64_t> freed(std::size_t module) const;
  /// True if the bytes that recomputation frees at this call depend on which of the module's
  /// tensors are kept. Before backward, kept tensors may be allocated anyway.
  bool is_choice(std::size_t module, std::size_t place) const;

 private:
  /// One storage in all recordings; empty spans where a recording has no matching storage.
  struct Spans {
    Span plain, again, even, odd;
  };
  using Spanned = std::vector<std::pair<Span, std::int64_t>>;

  const SharedCalls& plain() const { return steps_.plain(); }
  const SharedCalls& again() const { return steps_.again(); }
  std::size_t count() const { return plain().calls().size(); }
  std::int64_t bytes(const SharedCalls& calls, StorageId storage) const {
    return weight(calls.bytes(storage));
  }

  void add_forward_storages();
  bool is_in_forward(int place) const;
  bool leave_out_others(Holders& holders) const;
  void add(const Spans& spans, std::int64_t bytes, int region, Holders holders);
  bool is_alike(int a, int b) const;
  void add_of_two(const Spans& spans, std::int64_t bytes, int maker);
  void add_of_many(const Spans& spans, std::int64_t bytes, const Holders& holders);
  void add_made_again();
  void add_others();
  std::vector<std::int64_t> sums_of(const Spanned& list) const;
  std::vector<std::int64_t> uncertain_bytes() const;

  const SharedSteps& steps_;
  Pool pool_;
  const profile::SegmentWeights* weights_;
  std::vector<Sums> held_plain_, held_again_;  // By module.
  Sums uncertain_;
  Spanned base_plain_;
  std::array<Spanned, 3> base_other_;  // fully checkpointed, even, odd
  /// The last call of the forward pass after which a storage is freed because its module is
  /// recomputed.
  int last_forward_free_ = -1;
};

}  // namespace symprof::plan
