#include "session/run_order.h"

#include <algorithm>

namespace symprof {

RunOrder run_order(ShapeTapes& tapes, const std::vector<plan::Batch>& batches, int accumulated,
                   const RunQuestion& question) {
  RunOrder order{.tapes = {0}, .passes = {}};
  const auto window = static_cast<std::size_t>(accumulated);
  std::int64_t update = 0;
  for (std::size_t first = 0; first < batches.size(); first += window) {
    const auto passes = static_cast<int>(std::min(window, batches.size() - first));
    for (int pass = 0; pass < passes; ++pass) {
      const std::size_t batch = first + static_cast<std::size_t>(pass);
      order.tapes.push_back(tapes.training(batches[batch], pass, passes, update == 0));
      order.passes.push_back({.batch = batch, .update = update});
    }
    ++update;
    if (question.progress)
      question.progress("shapes", static_cast<std::int64_t>(order.passes.size()),
                        static_cast<std::int64_t>(batches.size()));
    for (const BetweenSteps& steps : question.between) {
      if (update % steps.every != 0) continue;
      order.tapes.push_back(tapes.between(steps));
      order.passes.push_back({.batch = {}, .update = update});
    }
  }
  return order;
}

}  // namespace symprof
