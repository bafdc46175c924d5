// Tapes of the steps of a Python program, and what a run of them holds.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profile/memory/run/run_memory.h"

namespace symprof::python {

struct RunTapes {
  std::vector<profile::StepTape> tapes;

  /// `order`: the tape of each step. `alloc_conf`: as in PYTORCH_ALLOC_CONF. `fraction`: what
  /// torch.cuda.set_per_process_memory_fraction says. Throws Error about a setting.
  profile::RunMemory play(const std::vector<std::int32_t>& order, const std::string& alloc_conf,
                          std::optional<std::int64_t> device_bytes, double fraction) const;
};

void bind_run_tapes(nanobind::module_& module);

}  // namespace symprof::python
