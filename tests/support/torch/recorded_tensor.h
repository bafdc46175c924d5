// The text that stands for a tensor in a recorded call: float32[2,3|1,2]+4#0!48@cpu.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof::test {

struct RecordedTensor {
  TensorSpec spec;
  std::string storage;  ///< One text for all tensors over one memory; empty: its own.
  std::int64_t storage_bytes = 0;
  bool on_host = false;
};

RecordedTensor parse_tensor(const std::string& text);
std::string describe(const at::Tensor& tensor);

/// Which tensors of a call lie over which storage.
class Storages {
 public:
  /// A fake tensor over its storage.
  at::Tensor make(const RecordedTensor& recorded);
  /// Whether `output` shares memory with those tensors of the call, and only those, with which it
  /// should.
  bool agree(const RecordedTensor& recorded, const at::Tensor& output);

 private:
  std::map<std::string, at::Tensor> bases_;
  std::map<const c10::StorageImpl*, std::string> names_;
  std::vector<at::Tensor> alive_;
};

}  // namespace symprof::test
