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
#include "python/bindings/run_tapes.h"

namespace symprof {
class EagerProgram;
}

namespace symprof::python {

/// symprof::EagerProgram for torch.Tensor objects.
class Program {
 public:
  /// Uses the settings of the device, its allocator and its kernels; others only as named in
  /// reports. Throws Error.
  explicit Program(const SettingTexts& settings);
  ~Program();

  /// Sets a setting that a report names, once it is known (the optimizer).
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
  void enter_graph();
  void leave_graph();
  void enter_code();
  void leave_code();
  void at_kernel(const std::string& path);
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
  /// The allocator's current memory, and its peaks since they were reset.
  StepMemory memory() const;
  void reset_peaks();
  /// Releases cached blocks to the device.
  void empty_cache();
  /// Calls `tell` before the first block is allocated on the device.
  void before_first_block(const std::function<void()>& tell);
  /// Replaces all settings of the allocator.
  void set_allocator(const std::string& settings);
  /// Sets the bytes of each cuBLAS workspace.
  void set_cublas_workspace(std::int64_t bytes);
  std::int64_t cublas_workspace() const { return settings_.step.device.cublas_workspace_bytes; }
  /// Limits live memory to `bytes`, as PyTorch's allocator does.
  void limit_memory(std::int64_t bytes);
  /// Adds a warning to the report.
  void warn(const std::string& sentence);
  /// True if the tensor is on the simulated device, or was copied from it.
  bool has_no_values(nanobind::handle tensor) const;
  /// True if one of its sizes is an upper bound.
  bool has_upper_bound_size(nanobind::handle tensor) const;
  /// `values` is a host tensor of the tensor's dtype and sizes.
  void give_values(nanobind::handle tensor, nanobind::handle values) const;
  /// The last line that read an assumed value; empty if there is none.
  std::string last_stand_in() const;
  /// Ends the simulation without a profile.
  void close();
  /// Ends the simulation and returns the profile of step `step`, counted from 1; by default of the
  /// last finished step, or of the whole run if no step finished; with `between`, of the
  /// gradient-free passes before that step. Throws Error if there is no such step. `costed`:
  /// operators whose costs `ask` returns.
  ProfileHandle finish(const std::vector<std::string>& costed, const AskCost& ask,
                       std::optional<std::size_t> step, bool between);
  /// Ends the simulation and returns the tapes of its finished steps, without the last one.
  RunTapes finish_tapes(const std::vector<std::string>& costed, const AskCost& ask);

 private:
  Settings settings_;
  CallId peaks_from_call_ = 0;
  std::size_t peaks_from_event_ = 0;
  std::size_t peaks_from_emptied_ = 0;
  std::unique_ptr<EagerProgram> program_;
};

}  // namespace symprof::python
