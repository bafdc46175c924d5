// Makes recordings by hand: what propagate would have written, call by call.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof::test {

using Sizes = std::vector<std::int64_t>;

/// An argument of a call. A tensor is given by its sizes (float32 unless said), `no_tensor` is
/// None.
struct TestArgument {
  std::vector<TensorSpec> tensors;  ///< One, or the elements of a list.
  std::vector<std::int64_t> integers;
};

/// One tensor, contiguous.
TensorSpec tensor(Sizes sizes, DType dtype = DType::float32);
TestArgument t(Sizes sizes, DType dtype = DType::float32);
TestArgument list(std::vector<Sizes> tensors);
TestArgument ints(std::vector<std::int64_t> values);
/// A bool, a float, None: nothing that the recording keeps.
TestArgument nothing();

class RecordingBuilder {
 public:
  RecordingBuilder() = default;

  NodeId node(std::string name, NodeKind kind = NodeKind::operation);
  NodeRecord& operator[](NodeId node) { return recording_.nodes[node]; }

  StorageId storage(StorageRecord storage);
  StorageRecord& at(StorageId id) { return recording_.storages[id]; }
  /// A tensor over the whole of a new storage.
  TensorRecord fresh(const TensorSpec& spec, StorageRecord storage = {});
  /// Another tensor over `storage`.
  TensorRecord over(StorageId storage, const TensorSpec& spec);

  /// A call whose tensors each have a storage of their own.
  CallId call(const std::string& op, const std::vector<TestArgument>& arguments,
              const std::vector<TensorSpec>& outputs, NodeId node = 0,
              Phase phase = Phase::forward);
  /// A call on given tensors; the arguments' positions are their order.
  CallId call_on(const std::string& op, std::vector<TensorRecord> inputs,
                 std::vector<TensorRecord> outputs, NodeId node = 0, Phase phase = Phase::forward);
  void event(EventKind kind, StorageId storage, CallId call);

  std::int32_t spec(const TensorSpec& spec);
  Recording& recording() { return recording_; }

 private:
  std::int32_t op(const std::string& name);
  Recording recording_;
};

}  // namespace symprof::test
