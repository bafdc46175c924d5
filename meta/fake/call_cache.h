// Results of calls that are kept for when the same calls come again, as the two dispatch modes of
// torch.utils.checkpoint.create_selective_checkpoint_contexts keep them.
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

/// One region's. Calls are told apart by their operator and by how many of it came before.
class CallCache {
 public:
  using Key = std::pair<std::string, int>;

  explicit CallCache(std::set<Key> kept) : kept_(std::move(kept)) {}

  /// While one lives, the calls on fake tensors of its thread are those of the region's first run:
  /// the outputs of those to keep are kept. The innermost of several regions counts.
  class Keeping {
   public:
    explicit Keeping(CallCache& cache);
    ~Keeping();
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;

   private:
    CallCache* before_;
  };

  /// While one lives, they are those of its second run: what was kept is the answer, once.
  class Answering {
   public:
    explicit Answering(CallCache& cache);
    ~Answering();
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;

   private:
    CallCache* before_;
  };

  /// Neither of the two: an inner region without a cache is not its parent's.
  class Pausing {
   public:
    Pausing();
    ~Pausing();
    Pausing(const Pausing&) = delete;
    Pausing& operator=(const Pausing&) = delete;

   private:
    CallCache* before_;
  };

  /// That of the innermost region on this thread; null where there is none.
  static CallCache* innermost();

  /// Puts what was kept of the call in the place of its arguments, which begin at `first`. False
  /// where it has to run. Throws c10::Error where a tensor was changed since.
  bool answer(const c10::OperatorHandle& op, torch::jit::Stack& stack, std::size_t first);
  /// The call has run.
  void finish(const c10::OperatorHandle& op, std::span<const c10::IValue> results);

  /// Calls that were to be kept and never came, after the first run.
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
