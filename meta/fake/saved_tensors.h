// Notifies the observer of tensors that autograd saves for backward, without Python.
#pragma once

#include <cstdint>
#include <optional>

namespace symprof::meta {

/// Installs, once per process, an autograd engine that differs from LibTorch's in one point: under
/// a FakeMode its default saved-tensor hooks report every saved tensor. Outside of it there are no
/// hooks.
void install_saved_tensor_observer();

/// While it lives, tensors that autograd saves on this thread under a FakeMode are offloaded to
/// host memory, as with Python's torch.autograd.graph.save_on_cpu(pin_memory=True): copied when
/// saved, and copied to a new device tensor at each unpacking in backward.
class SaveOnCpu {
 public:
  explicit SaveOnCpu(bool active = true);
  ~SaveOnCpu();
  SaveOnCpu(const SaveOnCpu&) = delete;
  SaveOnCpu& operator=(const SaveOnCpu&) = delete;

 private:
  bool before_;
};

/// The sequence number of the next autograd node created on this thread. Nodes created between two
/// calls have the numbers in between.
std::uint64_t next_sequence_number();

/// The autograd node whose backward runs on this thread.
struct BackwardNode {
  std::uint64_t sequence_number = 0;
  /// For AccumulateGrad, which has no sequence number: the leaf's storage; -1 otherwise.
  std::int32_t leaf_storage = -1;
};
std::optional<BackwardNode> current_backward_node();

/// True if the current node's backward formula depends on the number of zeros in its input. Numbers
/// that such a formula reads from data are 0 if the input has no zeros, the usual case.
bool backward_counts_zeros();

}  // namespace symprof::meta
