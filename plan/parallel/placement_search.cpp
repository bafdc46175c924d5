#include "plan/parallel/placement_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace symprof::plan {
namespace {

constexpr std::size_t most_states = 200'000;

/// A live value: its placement, and the other placements in which it was already produced.
struct LiveValue {
  Placement placement = whole;
  std::uint8_t made = 0;
  bool operator<(const LiveValue& other) const {
    return std::tie(placement, made) < std::tie(other.placement, other.made);
  }
};

/// By value of the problem; dead values are absent.
using PlacementState = std::map<std::size_t, LiveValue>;

struct Reached {
  double us = 0;
  const std::pair<const PlacementState, Reached>* before = nullptr;
  std::size_t option = 0;
};
using Level = std::map<PlacementState, Reached>;

std::uint8_t bit_of(Placement target) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(target + 3));
}

class PlacementSearch {
 public:
  explicit PlacementSearch(const PlacementProblem& problem) : problem_(problem) {
    last_reader_.resize(problem.values, 0);
    for (std::size_t i = 0; i < problem.nodes.size(); ++i)
      for (const std::size_t value : problem.nodes[i].inputs) last_reader_[value] = i;
    for (const std::size_t value : problem.taken) last_reader_[value] = problem.nodes.size();
  }

  std::optional<PlacementAnswer> run() {
    levels_.resize(problem_.nodes.size() + 1);
    PlacementState begin;
    for (const std::size_t value : problem_.given) begin[value] = {problem_.around, 0};
    levels_[0][begin] = {};
    for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
      for (const auto& reached : levels_[i]) step(i, reached);
      if (levels_[i + 1].empty() || levels_[i + 1].size() > most_states) return std::nullopt;
    }
    return best();
  }

 private:
  void step(std::size_t place, const Level::value_type& reached) {
    const PlacementNode& node = problem_.nodes[place];
    for (std::size_t i = 0; i < node.options.size(); ++i) {
      PlacementState state = reached.first;
      const double us = take(state, node, node.options[i]);
      if (!std::isfinite(us)) continue;
      for (const std::size_t value : node.outputs) state[value] = {node.options[i].output, 0};
      std::erase_if(state, [&](const auto& live) { return last_reader_[live.first] <= place; });
      const Reached next{reached.second.us + us, &reached, i};
      const auto [known, is_new] = levels_[place + 1].try_emplace(std::move(state), next);
      if (!is_new && next.us < known->second.us) known->second = next;
    }
  }

  double take(PlacementState& state, const PlacementNode& node, const PlacementOption& option) {
    double us = option.us;
    for (std::size_t i = 0; i < node.inputs.size() && std::isfinite(us); ++i)
      us += made(state, node.inputs[i], option.inputs[i]);
    return us;
  }

  /// The cost of redistributing `value` to `target`, in which it is available from then on.
  double made(PlacementState& state, std::size_t value, Placement target) {
    LiveValue& live = state.at(value);
    if (live.placement == target || (live.made & bit_of(target)) != 0) return 0;
    const bool is_shared = problem_.joins || live.placement != whole || target != whole_for_columns;
    if (is_shared) live.made |= bit_of(target);
    return problem_.redistribution_us(value, live.placement, target);
  }

  std::optional<PlacementAnswer> best() {
    const Level::value_type* found = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& reached : levels_.back()) {
      PlacementState state = reached.first;
      double us = reached.second.us;
      for (const std::size_t value : problem_.taken) us += made(state, value, problem_.around);
      if (us < least) least = us, found = &reached;
    }
    if (found == nullptr) return std::nullopt;
    PlacementAnswer answer{.us = least};
    for (; found->second.before != nullptr; found = found->second.before)
      answer.options.push_back(found->second.option);
    std::ranges::reverse(answer.options);
    return answer;
  }

  const PlacementProblem& problem_;
  std::vector<std::size_t> last_reader_;
  std::vector<Level> levels_;
};

}  // namespace

std::optional<PlacementAnswer> least_placements(const PlacementProblem& problem) {
  return PlacementSearch(problem).run();
}

}  // namespace symprof::plan
