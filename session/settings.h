// The settings of a run of a model, for every caller: the command line, Python, a program.
// session/setting_table.h has a row for each setting, by which texts are read and printed.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/parallel/mesh.h"
#include "profile/memory/memory_data.h"
#include "profile/time_data.h"
#include "record/step_options.h"
#include "trace/passes/bind_inputs.h"

namespace symprof {

struct Settings {
  std::vector<trace::InputOverride> inputs;
  /// Named dimensions and their sizes.
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  /// Folders with the Python source of a trace; its lines show lifetimes and dtypes that the file
  /// lacks.
  std::vector<std::string> python_sources;
  std::optional<Mode> mode;    ///< Empty: train where the model has parameters to train.
  std::optional<DType> dtype;  ///< Parameters, buffers and inputs are cast to it.
  /// `step.mode` is `mode`, or the model's default once a Session has prepared it. A device without
  /// a name is the default one.
  StepOptions step;
  /// Patterns of the modules that FSDP2 wraps; empty: the repeated modules, and the root.
  std::vector<std::string> wrap;
  /// The devices of the file's own collectives, or those of `step.parallel`.
  std::optional<plan::Mesh> mesh;
  std::string alloc_conf;  ///< As in PYTORCH_ALLOC_CONF; `loop.allocator` has it parsed.
  profile::LoopOptions loop;
  /// Options of the step's time; empty: not requested.
  std::optional<TimeOptions> time;
  /// Memory of CUDA's context and of other programs on the device, in bytes, in place of the device
  /// file's.
  std::optional<std::int64_t> context_bytes;
  /// The owner's limits of the board's power and clock, in place of the device file's.
  std::optional<double> power_limit_watts, clock_limit_hz;
};

constexpr const char* default_device = "h200";

/// The size of `name` in `settings`.
std::optional<std::int64_t> given_size(const Settings& settings, const std::string& name);

/// Sets the size of `name`.
void set_size(Settings& settings, const std::string& name, std::int64_t size);

}  // namespace symprof
