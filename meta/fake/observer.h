// Who is told of what fake tensors do. The mode calls it; shape/ implements it.
//
// Public header.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "base/tensor_spec.h"
#include "meta/fake/value_range.h"

namespace symprof::meta {

/// Where a storage would lie: on the GPU, or in host memory (a seed, a result of `.cpu()`).
enum class Place : std::uint8_t { device, host };

/// A tensor in a call: the ids that the observer gave to its geometry and its storage; -1:
/// undefined.
struct SeenTensor {
  std::int32_t spec = -1;
  std::int32_t storage = -1;
};

/// A finished call. Tensor lists are flattened; `positions` has each input's schema argument.
struct SeenCall {
  const c10::OperatorHandle& op;
  std::span<const SeenTensor> inputs;
  std::span<const std::uint8_t> positions;
  std::span<const SeenTensor> outputs;
  std::span<const c10::IValue> arguments;  ///< As given, for the numbers among them.
};

/// Calls of one step arrive one after the other. Frees may come from any thread.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Unlike its address, no other observer of this process ever has it.
  std::uint64_t serial() const { return serial_; }

  /// A storage of `bytes` came to be; the answer is its id.
  virtual std::int32_t on_allocate(std::int64_t bytes, Place place) = 0;
  /// A storage known as `old` has a new size, so a new block; the answer is the id of this one. The
  /// old block is freed after it.
  virtual std::int32_t on_resize(std::int32_t /*old*/, std::int64_t bytes, Place place) {
    return on_allocate(bytes, place);
  }
  /// PyTorch would free the storage now.
  virtual void on_free(std::int32_t storage) noexcept = 0;
  /// A tensor of a new geometry; the answer is the id of the geometry.
  virtual std::int32_t on_spec(TensorSpec spec) = 0;
  /// A call is about to run: what is allocated until on_call belongs to it.
  virtual void on_call_begin(const c10::OperatorHandle& op) = 0;
  /// The call that on_call_begin announced has run.
  virtual void on_call(const SeenCall& call) = 0;
  /// An autograd node saved a tensor of this storage for backward.
  virtual void on_saved(std::int32_t storage) = 0;
  /// The autograd node whose backward runs is about to fail, before any call of its own.
  virtual void on_backward_refused() {}
  /// An autograd node saved a tensor, and under SaveOnCpu this storage in host memory has its copy.
  virtual void on_offloaded(std::int32_t /*storage*/) {}
  /// A stream other than its own uses a storage (Tensor.record_stream).
  virtual void on_stream_use() {}
  /// What stands for an unbacked size: one that only data could tell. `most` is the largest that it
  /// can be, where there is one. An empty answer refuses the call.
  virtual std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t> /*most*/) {
    return std::nullopt;
  }
  /// What stands for the number that aten::item would read from the data of `storage`, which lie in
  /// `range`. An empty answer refuses it.
  virtual std::optional<double> unbacked_number(std::int32_t /*storage*/,
                                                const ValueRange& /*range*/) {
    return std::nullopt;
  }
  /// Such a size or number is known, as it follows from values that are given.
  virtual void on_known_number(std::int64_t /*number*/) {}
  /// From here on, values that are known are followed through calls (meta/fake/known_values.h).
  void follow_values() { follows_values_ = true; }
  bool follows_values() const { return follows_values_; }
  /// A branch that data would choose asks whether the costlier one runs; if not, it is refused.
  virtual bool takes_upper_bounds() { return false; }

 private:
  inline static std::atomic<std::uint64_t> count_ = 0;
  std::uint64_t serial_ = ++count_;
  bool follows_values_ = false;
};

/// The observer of the innermost mode of this thread, or, on an autograd thread, of the mode under
/// which backward was started (LibTorch carries ThreadLocalDebugInfo there). Null outside a mode.
std::shared_ptr<Observer> current_observer();

}  // namespace symprof::meta
