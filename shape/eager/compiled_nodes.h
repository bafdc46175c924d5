// The nodes of code that a compiler wrote (torch.compile): a fused kernel, or an operator that it
// calls, with the buffers that the code makes for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "shape/step/call_nodes.h"
#include "shape/step/recorder.h"

namespace symprof::shape {

/// One autograd node stands for a compiled function, so the code itself says before each kernel
/// which module it was made of: by its path from the module in which the function was called.
/// Functions of equal blocks share their code.
class CompiledNodes {
 public:
  CompiledNodes(Recorder& recorder, CallNodes& calls) : recorder_(recorder), calls_(calls) {}

  /// A compiled function is called in `module`: the autograd nodes made from now on are that
  /// call's.
  void begin_graph(std::int32_t module);
  /// Around the run of generated code, in either pass.
  void enter_code(bool is_backward);
  void leave_code();
  bool is_in_code() const { return depth_ > 0; }

  /// The calls that follow are the kernel of the module at `path`; a path that begins with a dot is
  /// relative to the function's module.
  void at_kernel(const std::string& path);
  /// The node of a call of the code. Buffers belong to the kernel that they are made for, the next
  /// one.
  NodeId node_of_call(const std::string& op);
  void restart();

 private:
  std::int32_t module_of_kernel();

  Recorder& recorder_;
  CallNodes& calls_;
  int depth_ = 0;
  std::int32_t module_ = 0;  // In which the function was called whose code runs.
  std::string path_;
  NodeId allocating_ = none, last_ = none;
  std::map<std::uint64_t, std::int32_t>
      graphs_;  // Modules, by the first sequence number of autograd.
};

}  // namespace symprof::shape
