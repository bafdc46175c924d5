// Keeps results of calls for the recomputation of the same calls, as the two dispatch modes of
// torch.utils.checkpoint.create_selective_checkpoint_contexts do.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace symprof::meta {

/// The cache of one region. A call is identified by its operator and by the number of earlier calls
/// of it.
class CallCache {
 public:
  using Key = std::pair<std::string, int>;

  explicit CallCache(std::set<Key> kept) : kept_(std::move(kept)) {}

  /// While one lives, this thread's calls on fake tensors are the region's first run: outputs of
  /// the calls to keep are stored. The innermost region counts.
  class Keeping {
   public:
    explicit Keeping(CallCache& cache);
    ~Keeping();
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;

   private:
    CallCache* before_;
  };

  /// While one lives, the calls are the region's recomputation: stored results are returned, once
  /// each.
  class Answering {
   public:
    explicit Answering(CallCache& cache);
    ~Answering();
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;

   private:
    CallCache* before_;
  };

  /// Suspends both: an inner region without a cache does not use its parent's.
  class Pausing {
   public:
    Pausing();
    ~Pausing();
    Pausing(const Pausing&) = delete;
    Pausing& operator=(const Pausing&) = delete;

   private:
    CallCache* before_;
  };

  /// The cache of the innermost region on this thread; null if there is none.
  static CallCache* innermost();

  /// Replaces the call's arguments, which begin at `first`, by its stored results. Returns false if
  /// the call has to run. Throws c10::Error if a stored tensor was modified since.
  bool answer(const c10::OperatorHandle& op, torch::jit::Stack& stack, std::size_t first);
  /// The call has run.
  void finish(const c10::OperatorHandle& op, std::span<const c10::IValue> results);

  /// Calls to keep that did not occur in the first run.
  std::vector<Key> missing() const;

 private:
  struct Kept {
    std::vector<c10::IValue> results;
    std::vector<std::int64_t> versions;  // Of the tensors among them.
  };

  std::set<Key> kept_;
  std::map<Key, Kept> results_;
  std::map<std::string, int> counts_;
  bool is_answering_ = false;
};

}  // namespace symprof::meta
