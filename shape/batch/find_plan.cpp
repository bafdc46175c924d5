#include "shape/batch/find_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "shape/batch/probe.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

/// Multiples of the file's batch for trial runs. Small, so that slices of a table stay in bounds.
constexpr std::array<std::int64_t, 12> factors = {5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43};

constexpr int most_tries = 200;
constexpr int most_tries_of_another = 8;
constexpr int most_others = 60;

using Decisions = std::map<std::size_t, Decision>;

class Search {
 public:
  Search(const Graph& graph, const StepOptions& options, const SeenValues& file,
         const Batches& batches)
      : graph_(graph), uses_(graph), batches_(batches), probe_(graph, options, file, batches) {}

  trace::BatchPlan run() {
    Decisions decisions;
    std::optional<Error> error;
    const std::optional<Outcome> found = find(decisions, std::nullopt, most_tries, error);
    if (!found) throw with_suspects(*error);
    trace::BatchPlan plan{.batch = batches_.file, .arguments = found->arguments, .warnings = {}};
    check_guesses(*found, decisions, plan);
    return plan;
  }

 private:
  /// Runs trials until all nodes run; after a failure, the last guess that the failed node depends
  /// on is changed. Empty if no guesses are left: then `error` is the error of the trial that came
  /// furthest.
  std::optional<Outcome> find(Decisions& decisions, std::optional<std::size_t> kept, int tries,
                              std::optional<Error>& error) {
    std::size_t furthest = 0;
    for (; tries > 0; --tries) {
      Outcome outcome =
          probe_.run(decisions, [this](const OpenNode& open) { return decide(open); });
      if (!outcome.error) return outcome;
      if (!error || outcome.failed_node > furthest) {
        error = outcome.error;
        furthest = failed_node_ = outcome.failed_node;
      }
      if (!change_last_guess(outcome, decisions, kept)) return std::nullopt;
    }
    return std::nullopt;
  }

  /// `error` extended by the file's tensors that the node depends on and that have one row per
  /// sample.
  Error with_suspects(const Error& error) const {
    const std::vector<bool> counts = ancestors(failed_node_);
    std::set<std::string> suspects;
    for (std::size_t i = 0; i < counts.size() && batches_.file > 1; ++i) {
      if (!counts[i]) continue;
      for_each_value(graph_.nodes[i], [&](ValueId id) {
        if (id != no_value && has_rows_of_batch(graph_.value(id)))
          suspects.insert(fmt::format("'{}' of [{}]", graph_.value(id).name,
                                      fmt::join(graph_.value(id).spec->sizes, ", ")));
      });
    }
    if (suspects.empty()) return error;
    return {
        error.where(unspelled),
        fmt::format("{}{} The file's {} may have a row for each sample.", error.problem(unspelled),
                    error.problem(unspelled).ends_with('.') ? "" : ".",
                    fmt::join(suspects, " and its ")),
        error.advice(unspelled)};
  }

  bool has_rows_of_batch(const Value& value) const {
    const bool is_of_file = value.kind == ValueKind::buffer || value.kind == ValueKind::constant;
    return is_of_file && value.spec && !value.spec->sizes.empty() &&
           value.spec->sizes.front() == batches_.file;
  }

  Decision decide(const OpenNode& open) const {
    const auto known = preferred_.find(open.kind);
    return {
        .choice = known == preferred_.end() || known->second >= open.choices ? 0 : known->second,
        .refuted = {}};
  }

  bool change_last_guess(const Outcome& outcome, Decisions& decisions,
                         std::optional<std::size_t> kept) {
    const std::vector<bool> counts = ancestors(outcome.failed_node);
    for (auto open = outcome.open.rbegin(); open != outcome.open.rend(); ++open) {
      const auto& [node, choices] = *open;
      if (!counts[node] || node == kept) continue;
      Decision& decision = decisions.at(node);
      decision.refuted.insert(decision.choice);
      std::size_t next = 0;
      while (decision.refuted.contains(next)) ++next;
      if (next == choices.choices) continue;
      decision.choice = next;
      preferred_[choices.kind] = next;
      const auto later = [&, at = node](const auto& entry) {
        return entry.first > at && entry.first != kept;
      };
      std::erase_if(decisions, later);
      return true;
    }
    return false;
  }

  /// The failed node and all its ancestors; every node if the run failed after the last node.
  std::vector<bool> ancestors(std::size_t failed) const {
    std::vector<bool> found(graph_.nodes.size(), false);
    found[failed] = true;
    for (std::size_t i = failed + 1; i-- > 0;) {
      if (!found[i]) continue;
      for_each_value(graph_.nodes[i], [&](ValueId id) {
        if (const auto maker = uses_.maker(id)) found[*maker] = true;
      });
    }
    return found;
  }

  /// Rejects a guess if another guess also runs, unless no output depends on it. With a batch of 1
  /// any size of 1 could be the batch: then the most likely guess stays, and a warning reports it.
  void check_guesses(const Outcome& found, const Decisions& decisions, trace::BatchPlan& plan) {
    const std::vector<bool> is_read = nodes_of_outputs();
    std::set<std::pair<std::string, bool>> seen;
    std::vector<std::string> unsure, unread;
    for (const auto& [index, open] : found.open) {
      if (!open.is_guess[decisions.at(index).choice] ||
          !seen.insert({open.kind, is_read[index]}).second || !another_runs(index, open, decisions))
        continue;
      const Node& node = graph_.nodes[index];
      if (batches_.file > 1 && is_read[index])
        throw Error(fmt::format("{}: node {} ({})", graph_.path, node.name, node.op),
                    fmt::format("has a size of {}, and the model runs whether that is the batch or "
                                "not",
                                batches_.file));
      (is_read[index] ? unsure : unread).push_back(fmt::format("{} ({})", node.name, node.op));
    }
    if (!unsure.empty()) plan.warnings.push_back(warning_of_unsure(unsure));
    if (!unread.empty()) plan.warnings.push_back(warning_of_unread(unread));
  }

  /// The nodes that outputs and mutations depend on.
  std::vector<bool> nodes_of_outputs() const {
    std::vector<bool> found(graph_.nodes.size(), false);
    const auto want = [&](ValueId id) {
      if (const auto maker = uses_.maker(id)) found[*maker] = true;
    };
    for (const ValueId id : graph_.outputs) want(id);
    for (const Mutation& mutation : graph_.mutations) want(mutation.source);
    for (std::size_t i = found.size(); i-- > 0;)
      if (found[i]) for_each_value(graph_.nodes[i], want);
    return found;
  }

  bool another_runs(std::size_t node, const OpenNode& open, const Decisions& decisions) {
    const Decision& decision = decisions.at(node);
    for (std::size_t other = 0; other < open.choices; ++other) {
      if (other == decision.choice || !open.is_guess[other] || decision.refuted.contains(other))
        continue;
      if (tries_of_others_ <= 0 || runs_with(node, other, decisions)) return true;
    }
    return false;
  }

  bool runs_with(std::size_t node, std::size_t choice, Decisions decisions) {
    decisions.at(node) = {.choice = choice, .refuted = {}};
    const auto preferred = preferred_;
    std::optional<Error> error;
    const bool runs = find(decisions, node, most_tries_of_another, error).has_value();
    preferred_ = preferred;
    --tries_of_others_;
    return runs;
  }

  /// "view (aten::view) and 2 others"
  static std::string places_of(const std::vector<std::string>& nodes) {
    if (nodes.size() == 1) return nodes.front();
    return fmt::format("{} and {} other{}", nodes.front(), nodes.size() - 1,
                       nodes.size() == 2 ? "" : "s");
  }

  static std::string warning_of_unsure(const std::vector<std::string>& nodes) {
    return fmt::format(
        "The file's batch is 1, so it does not tell which sizes of 1 are the batch. In {} the "
        "likeliest was taken, and others would run as well: rows there may be of a model that "
        "broadcasts, or joins dimensions, in another way. A file of two or more samples tells.",
        places_of(nodes));
  }

  std::string warning_of_unread(const std::vector<std::string>& nodes) const {
    return fmt::format(
        "Sizes of {} in {} were taken {}the batch, which nothing confirms: no output depends on "
        "them.",
        batches_.file, places_of(nodes), batches_.file == 1 ? "apart from " : "as ");
  }

  const Graph& graph_;
  trace::Uses uses_;
  Batches batches_;
  Probe probe_;
  std::map<std::string, std::size_t> preferred_;  // By kind of node.
  std::size_t failed_node_ = 0;                   // Of the trial that came furthest.
  int tries_of_others_ = most_others;
};

/// A batch that equals no size of the graph: an equal size could hide an error.
Batches batches_for(const SeenValues& file, std::int64_t batch, std::int64_t least_factor) {
  for (const std::int64_t factor : factors) {
    const Batches batches{.file = batch, .factor = factor};
    const auto has_size = [&](const std::optional<Numbers>& sizes) {
      return sizes && std::ranges::find(*sizes, batches.tried()) != sizes->end();
    };
    if (factor >= least_factor && std::ranges::none_of(file.sizes, has_size)) return batches;
  }
  return {.file = batch, .factor = 1009};
}

/// Verifies the plan: with the file's batch it changes no size, and with a third batch the graph
/// runs.
void verify_plan(const Graph& graph, const StepOptions& options, const trace::BatchPlan& plan,
                 const SeenValues& file, std::int64_t other) {
  Graph same = graph;
  trace::set_batch(same, plan, plan.batch);
  SeenValues seen = seen_values(same, options);
  seen.sizes.resize(file.sizes.size());
  if (seen.sizes != file.sizes)
    throw Error(graph.path, "the sizes that follow the batch do not give the file's own");
  Graph larger = with_input_batch(graph, other);
  trace::set_batch(larger, plan, other);
  seen_values(larger, options);
}

}  // namespace

trace::BatchPlan find_batch_plan(const Graph& graph, const StepOptions& options) {
  const std::int64_t batch = trace::fixed_batch(graph).value();
  const SeenValues file = seen_values(graph, options);
  const Batches batches = batches_for(file, batch, factors.front());
  check_nested_sizes(graph, batches);
  const trace::BatchPlan plan = Search(graph, options, file, batches).run();
  const Batches other = batches_for(file, batch, batches.factor + 1);
  verify_plan(graph, options, plan, file, other.tried());
  return plan;
}

}  // namespace symprof::shape
