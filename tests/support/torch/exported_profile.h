// The small .pt2 files that models/special_models.py and models/old_archive.py write.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::test {

using Bindings = std::vector<std::pair<std::string, std::int64_t>>;

/// Widths of the layers in special_models.py.
constexpr std::int64_t layer_width = 8, layer_wide = 32;

/// FLOPs of a Linear on `rows` rows: a multiply-add is 2.
constexpr std::int64_t product(std::int64_t rows, std::int64_t in, std::int64_t out) {
  return 2 * rows * in * out;
}
constexpr std::int64_t narrow(std::int64_t rows) { return product(rows, layer_width, layer_width); }
constexpr std::int64_t wide(std::int64_t rows) { return product(rows, layer_width, layer_wide); }

inline Graph load_tiny(const std::string& name) {
  return trace::load(
      (std::filesystem::path(test::source_folder()) / "models/tiny" / name).string());
}

inline Profile profile_of(const Graph& graph, StepOptions options = {}) {
  options.device =
      load_device((std::filesystem::path(test::source_folder()) / "devices/h200.json").string());
  return profile::evaluate(shape::propagate(graph, options), options.device);
}

inline Profile profile_of(const std::string& name, const Bindings& bindings = {},
                          const StepOptions& options = {}) {
  Graph graph = load_tiny(name);
  trace::set_training_mode(
      graph, options.mode == Mode::train ? trace::TrainingMode::train : trace::TrainingMode::eval);
  trace::bind_inputs(graph, {}, bindings);
  return profile_of(graph, options);
}

/// Operators of the nodes that are marked as upper bounds, in order.
inline std::vector<std::string> bounded_nodes(const Profile& profile) {
  std::vector<std::string> ops;
  for (const NodeRecord& node : profile.recording.nodes)
    if (node.upper_bound) ops.push_back(node.op);
  return ops;
}

/// What `action` throws, with its advice.
template <class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace symprof::test
