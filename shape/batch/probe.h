// One trial: a graph run with another batch; each size is chosen when its node is about to run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/step_options.h"
#include "shape/batch/choices.h"
#include "shape/batch/seen_values.h"

namespace symprof::shape {

/// The choice taken for a node, and the choices that failed to run.
struct Decision {
  std::size_t choice = 0;
  std::set<std::size_t> refuted;
};

/// A node with more than one choice.
struct OpenNode {
  std::size_t choices = 1;
  std::vector<bool> is_guess;  ///< By choice.
  std::string kind;            ///< Equal for equivalent nodes.
};

/// The result of a trial.
struct Outcome {
  std::map<std::size_t, OpenNode> open;  ///< By node.
  std::vector<trace::BatchedArgument> arguments;
  std::optional<Error> error;
  std::size_t failed_node = 0;
};

class Probe {
 public:
  /// `graph` has the file's batch, and `file` holds its values with that batch; both have to
  /// outlive this.
  Probe(const Graph& graph, const StepOptions& options, const SeenValues& file,
        const Batches& batches)
      : graph_(graph), options_(options), file_(file), batches_(batches) {}

  /// Runs with the choices of `decisions`. A node without one gets the decision that `decide` makes
  /// for it.
  Outcome run(std::map<std::size_t, Decision>& decisions,
              const std::function<Decision(const OpenNode&)>& decide) const;

 private:
  const Graph& graph_;
  const StepOptions& options_;
  const SeenValues& file_;
  Batches batches_;
};

/// `graph` with another batch in its inputs only.
Graph with_input_batch(const Graph& graph, std::int64_t batch);

}  // namespace symprof::shape
