// A command: a function that adds its options to the program and returns the function to run.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace symprof::cli {

/// Exit codes of the program.
enum ExitCode : int {
  done = 0,
  answer_is_no = 1,
  bad_input = 2,
  not_available = 3,
};

/// Help for an argument that is a model; trace/load.h knows the formats.
inline constexpr const char* model_file =
    "A model file: .pt2 (torch.export), .pt (TorchScript) or .onnx";

/// Runs a command whose options were parsed; the exit code. Throws Error.
using Run = std::function<int()>;

Run add_profile(CLI::App& app);
Run add_fit(CLI::App& app);
/// Has subcommands, one for each kind of plan.
Run add_plan(CLI::App& app);
Run add_measure(CLI::App& app);
Run add_calibrate(CLI::App& app);
Run add_devices(CLI::App& app);
Run add_ops(CLI::App& app);
Run add_show(CLI::App& app);
Run add_stats(CLI::App& app);
Run add_inline(CLI::App& app);
Run add_partition(CLI::App& app);
Run add_strip(CLI::App& app);
Run add_fill(CLI::App& app);
Run add_optimize(CLI::App& app);
Run add_compare(CLI::App& app);
Run add_bisect(CLI::App& app);
Run add_engine(CLI::App& app);
Run add_memory(CLI::App& app);
Run add_dot(CLI::App& app);
Run add_dump(CLI::App& app);
Run add_restore(CLI::App& app);

}  // namespace symprof::cli
