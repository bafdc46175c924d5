// A Python program under a fake mode.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/bindings/own_costs.h"
#include "python/bindings/profile_handle.h"

namespace symprof {
class EagerProgram;
}

namespace symprof::python {

/// symprof::EagerProgram for torch.Tensor objects.
class Program {
 public:
  /// Settings of the device, its allocator and the kernels that it takes; of the others, those that
  /// a report says. Throws Error.
  explicit Program(const SettingTexts& settings);
  ~Program();

  /// Says a setting that a report is to name, once it is known (the optimizer).
  void set(const std::string& setting, const std::string& text);

  void set_name(const std::string& name);
  void add_root(const std::string& name);
  void enter_module(const std::string& path, const std::string& type);
  void leave_module();
  void enter_backward(bool makes_graph);
  void leave_backward();
  void enter_optimizer(const std::string& label, const std::string& name);
  void leave_optimizer();
  void enter_closure();
  void leave_closure();
  void mark_step();

  void add_parameter(nanobind::handle parameter, const std::vector<nanobind::object>& parts,
                     std::int64_t elements);
  void add_buffer(nanobind::handle buffer);
  void add_input(nanobind::handle input);
  void add_gradient(nanobind::handle gradient, nanobind::handle parameter);
  void add_optimizer_state(nanobind::handle state, nanobind::handle parameter);

  /// The program resized a torch.UntypedStorage.
  void storage_resized(nanobind::handle storage);

  std::size_t steps() const;
  const DeviceSpec& device() const { return settings_.step.device; }
  /// What the allocator holds now, and its peaks since they were reset.
  StepMemory memory() const;
  void reset_peaks();
  /// Cached memory goes back to the device.
  void empty_cache();
  /// Calls `tell` before the device gives its first block.
  void before_first_block(const std::function<void()>& tell);
  /// The allocator's settings are these, and no others.
  void set_allocator(const std::string& settings);
  /// Bytes of each of cuBLAS's workspaces.
  void set_cublas_workspace(std::int64_t bytes);
  std::int64_t cublas_workspace() const { return settings_.step.device.cublas_workspace_bytes; }
  /// Refuses what is held at a time beyond so many bytes, as PyTorch's allocator does.
  void limit_memory(std::int64_t bytes);
  /// A sentence for the report.
  void warn(const std::string& sentence);
  /// Whether the tensor is on the simulated device, or came from there.
  bool has_no_values(nanobind::handle tensor) const;
  /// Whether an upper bound stands for one of its sizes.
  bool has_upper_bound_size(nanobind::handle tensor) const;
  /// `values`: on the host, of the tensor's dtype and sizes.
  void give_values(nanobind::handle tensor, nanobind::handle values) const;
  /// Which line got a stand-in last; empty where none did.
  std::string last_stand_in() const;
  /// Ends the simulation without one.
  void close();
  /// Ends the simulation. The profile is that of step `step`, counted from 1, of the last step that
  /// ended where none is given, or of all that ran where no step ended; with `between`, that of the
  /// gradient-free passes before that step. Throws Error where there is no such step.
  /// `costed`: operators of which `ask` tells the costs.
  ProfileHandle finish(const std::vector<std::string>& costed, const AskCost& ask,
                       std::optional<std::size_t> step, bool between);

 private:
  Settings settings_;
  CallId peaks_from_call_ = 0;
  std::size_t peaks_from_event_ = 0;
  std::unique_ptr<EagerProgram> program_;
};

}  // namespace symprof::python
