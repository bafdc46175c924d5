// Observes the fake tensors of one step and writes the Recording.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meta/fake/observer.h"
#include "meta/fake/release_listener.h"
#include "meta/fake/simulated_device.h"
#include "record/program_recording.h"
#include "record/recording.h"

namespace symprof::shape {

/// Every call belongs to exactly one node: in the forward pass the current node; in backward the
/// node whose forward created the current autograd node (found by sequence number); for a
/// parameter's AccumulateGrad the first node that used the parameter.
class Recorder final : public meta::Observer, public meta::ReleaseListener {
 public:
  std::int32_t on_allocate(std::int64_t bytes, meta::Place place) override;
  std::int32_t on_resize(std::int32_t old, std::int64_t bytes, meta::Place place) override;
  void on_free(std::int32_t storage) noexcept override;
  std::int32_t on_spec(TensorSpec spec) override;
  void on_call_begin(const c10::OperatorHandle& op) override;
  void on_call(const meta::SeenCall& call) override;
  void on_saved(std::int32_t storage) override;
  void on_released(std::int32_t storage) noexcept override;
  void on_backward_refused() override {
    backward_node();
    found_changed_tensor_ = true;
  }
  void on_offloaded(std::int32_t storage) override;
  std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t> most) override;
  std::optional<double> unbacked_number(std::int32_t storage,
                                        const meta::ValueRange& range) override {
    if (answer_number_) return answer_number_(storage, range);
    const auto size = unbacked_size(std::nullopt);
    return size ? std::optional(static_cast<double>(*size)) : std::nullopt;
  }
  void on_known_number(std::int64_t number) override;
  void on_stream_use() override { ++stream_uses_; }
  int stream_uses() const { return stream_uses_; }
  /// The program asks it of the allocator here; `stream` is that of a capture.
  void ask_allocator(AllocatorRequest::Kind kind, std::int64_t stream = 0) {
    const std::lock_guard lock(mutex_);
    recording_.allocator_requests.push_back({recording_.events.size(), kind, stream});
  }
  bool takes_upper_bounds() override;

  /// A replay of a CUDA graph makes calls and storages that the recording already has.
  void repeat_call(CallRecord call) {
    const std::lock_guard lock(mutex_);
    last_call_ = static_cast<CallId>(recording_.calls.size());
    recording_.calls.push_back(std::move(call));
  }
  StorageId repeat_storage(const StorageRecord& storage) {
    const std::lock_guard lock(mutex_);
    recording_.storages.push_back(storage);
    return static_cast<StorageId>(recording_.storages.size()) - 1;
  }
  void repeat_event(StorageId storage, EventKind kind) {
    const std::lock_guard lock(mutex_);
    recording_.events.push_back({storage, last_call_, kind});
  }
  void repeat_save(const SaveEvent& save) {
    const std::lock_guard lock(mutex_);
    saves_.push_back(save);
  }

  /// `tell` is called once, before the next block is allocated on the device.
  void before_first_block(std::function<void()> tell) { tell_first_block_ = std::move(tell); }
  /// Live blocks beyond `bytes` raise PyTorch's OutOfMemoryError. Fragmentation is not counted.
  void limit_memory(std::optional<std::int64_t> bytes) { limit_bytes_ = bytes; }

  /// Calls from here on belong to `phase` and, outside backward, to `node`.
  void enter(Phase phase, NodeId node);
  /// Called before a node's forward: autograd nodes created from now on belong to it.
  void mark_sequence(NodeId node);
  /// During recomputation of a checkpoint in backward: calls, and autograd nodes created from now
  /// on, belong to `node`. None ends it.
  void recompute(NodeId node);
  /// While it is on, calls of the backward pass belong to the node of `enter`, whatever autograd
  /// node runs: one autograd node stands for a whole compiled function.
  void say_nodes_in_backward(bool says) { says_nodes_ = says; }
  /// When a storage that no call makes came to be: now, in the update of the first step (optimizer
  /// states), or with the model. The model's storages have no event.
  enum class Made : std::uint8_t { now, in_first_update, with_model };
  /// Sets the kind of storages created from now on, outside of calls.
  void set_kind(StorageKind kind, Made made = Made::now) {
    kind_ = kind;
    made_ = made;
  }
  /// Changes the kind of an existing storage.
  void set_storage_kind(StorageId storage, StorageKind kind);
  /// `storage` is the gradient of `parameter`, or a state of its optimizer.
  void give_to_parameter(StorageId storage, StorageKind kind, StorageId parameter);
  /// `node` uses the parameter in `storage`; the first such node gets the calls of its gradient.
  void claim_parameter(StorageId storage, NodeId node) {
    parameter_nodes_.try_emplace(storage, node);
  }

  /// Clears all claims, so that nodes of another step can claim parameters.
  void forget_claims() { parameter_nodes_.clear(); }

  /// Removes the claim of `node`, if it was the first.
  void release_parameter(StorageId storage, NodeId node) {
    const auto claimed = parameter_nodes_.find(storage);
    if (claimed != parameter_nodes_.end() && claimed->second == node)
      parameter_nodes_.erase(claimed);
  }

  /// Known values of an unbacked size of `node`, or of the number that it reads.
  struct UnbackedSize {
    std::optional<std::int64_t> given;  ///< By the user.
    std::optional<std::int64_t> most;   ///< By the file.
  };
  void set_unbacked_size(NodeId node, UnbackedSize size) { unbacked_sizes_[node] = size; }
  /// From here on, sizes that are not given are replaced by upper bounds, which mark their nodes.
  void take_upper_bounds() { takes_upper_bounds_ = true; }

  /// Follows switches that a program sets (torch.backends.cudnn.benchmark).
  void obey_switches() { is_of_program_ = true; }

  /// `answer` supplies numbers that are read from data.
  using AnswerNumber = std::function<double(StorageId, const meta::ValueRange&)>;
  void answer_numbers(AnswerNumber answer) { answer_number_ = std::move(answer); }

  /// The current node, or the node whose backward ran last.
  NodeId current_node() const { return node_; }
  /// True if the backward pass failed on a tensor modified after it was saved.
  bool found_changed_tensor() const { return found_changed_tensor_; }
  Recording& recording() { return recording_; }
  /// Tensors saved and released by autograd, in a program's recording.
  const std::vector<SaveEvent>& saves() const { return saves_; }
  std::vector<SaveEvent> take_saves() { return std::move(saves_); }
  /// Returns the finished recording. Later frees (of tensors that a caller still holds) are not
  /// recorded.
  Recording take();

 private:
  NodeId backward_node();
  NodeId asking_node();
  void mark_upper_bound(NodeId node);
  void add_allocation(StorageId storage);
  void count_block(std::int64_t bytes);
  std::int32_t op_id(const c10::OperatorHandle& op);
  std::int32_t op_id(const std::string& name);

  std::mutex mutex_;  // Frees may come from another thread.
  Recording recording_;
  bool finished_ = false;
  Phase phase_ = Phase::forward;
  NodeId node_ = none;
  NodeId recomputed_node_ = none;
  StorageKind kind_ = StorageKind::activation;
  Made made_ = Made::now;
  std::vector<SaveEvent> saves_;
  std::vector<MemoryEvent> earlier_events_;  // Made by an earlier step's update.
  CallId open_call_ = none;
  CallId last_call_ = none;
  struct Mark {
    std::uint64_t sequence;
    NodeId node;
  };
  std::vector<Mark> marks_;  // Ascending in sequence.
  std::unordered_map<StorageId, NodeId> parameter_nodes_;
  std::unordered_map<NodeId, UnbackedSize> unbacked_sizes_;
  bool takes_upper_bounds_ = false, found_changed_tensor_ = false;
  AnswerNumber answer_number_;
  int stream_uses_ = 0;
  bool is_of_program_ = false, says_nodes_ = false;
  std::function<void()> tell_first_block_;
  std::int64_t live_bytes_ = 0;  // Of the device's blocks.
  std::optional<std::int64_t> limit_bytes_;
  /// The switches at the begin of the step; in a program, of the last call.
  meta::Tf32Switches tf32_ = meta::tf32_switches();
  std::unordered_map<const void*, std::int32_t> op_ids_;  // By the operator's schema.
};

}  // namespace symprof::shape
