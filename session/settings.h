// Everything that one can ask of a run of a model, whoever asks: the command line, Python, a
// program. session/setting_table.h has a row for each setting, by which texts are read and printed.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/parallel/layout.h"
#include "profile/memory/step_memory.h"
#include "profile/step_time.h"
#include "record/step_options.h"
#include "trace/passes/bind_inputs.h"

namespace symprof {

struct Settings {
  std::vector<trace::InputOverride> inputs;
  /// Named dimensions and their sizes.
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  /// Folders with the Python that a trace was made from; its lines show what the file does not.
  std::vector<std::string> python_sources;
  std::optional<Mode> mode;    ///< Empty: train where the model has parameters to train.
  std::optional<DType> dtype;  ///< Parameters, buffers and inputs are cast to it.
  /// `step.mode` is what `mode` asks for, or what the model decides, once a Session has prepared
  /// it. A device without a name is the default one.
  StepOptions step;
  /// Patterns of the modules that FSDP2 wraps; empty: those that repeat, and the root.
  std::vector<std::string> wrap;
  /// The devices: of the collectives that a file has itself, or those that `step.parallel` lies on.
  std::optional<plan::Mesh> mesh;
  std::string alloc_conf;  ///< As in PYTORCH_ALLOC_CONF; `loop.allocator` is what it says.
  profile::LoopOptions loop;
  /// How long the step takes; empty: nobody asks.
  std::optional<TimeOptions> time;
  /// What CUDA's context and other programs hold on the device, in place of the device file's.
  std::optional<std::int64_t> context_bytes;
};

constexpr const char* default_device = "h200";

/// The size that `settings` give for `name`.
std::optional<std::int64_t> given_size(const Settings& settings, const std::string& name);

/// Gives `name` another size.
void set_size(Settings& settings, const std::string& name, std::int64_t size);

}  // namespace symprof
