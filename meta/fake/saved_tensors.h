// Tells the observer which tensors autograd saves for backward, without Python.
#pragma once

#include <cstdint>
#include <optional>

namespace symprof::meta {

/// Installs, once for the process, an autograd engine that is LibTorch's own but for one question:
/// under a FakeMode its default saved-tensor hooks report every saved tensor. Elsewhere it has
/// none.
void install_saved_tensor_observer();

/// For as long as this lives, what autograd saves on this thread under a FakeMode waits for
/// backward in host memory, as under Python's torch.autograd.graph.save_on_cpu(pin_memory=True):
/// copied when it is saved, and to a new tensor of its device each time that backward asks for it.
class SaveOnCpu {
 public:
  explicit SaveOnCpu(bool active = true);
  ~SaveOnCpu();
  SaveOnCpu(const SaveOnCpu&) = delete;
  SaveOnCpu& operator=(const SaveOnCpu&) = delete;

 private:
  bool before_;
};

/// The next number that autograd gives to a node made on this thread. Nodes made between two
/// readings have the numbers between them.
std::uint64_t next_sequence_number();

/// The autograd node whose backward runs on this thread.
struct BackwardNode {
  std::uint64_t sequence_number = 0;
  /// For AccumulateGrad, which has no number of its own: the storage of the leaf; -1 otherwise.
  std::int32_t leaf_storage = -1;
};
std::optional<BackwardNode> current_backward_node();

/// Whether the formula of the node whose backward runs depends on how many zeros its input has. The
/// numbers that such a formula reads from data are 0 where the input has none, the usual case.
bool backward_counts_zeros();

}  // namespace symprof::meta
