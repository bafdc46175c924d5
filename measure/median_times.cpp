#include "measure/median_times.h"

#include <algorithm>

namespace symprof::measure {

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

Times median_of(const std::vector<Times>& steps) {
  Times result;
  for (const auto member : {&Times::forward_ns, &Times::backward_ns, &Times::optimizer_ns}) {
    std::vector<std::int64_t> values;
    values.reserve(steps.size());
    for (const Times& times : steps) values.push_back(times.*member);
    result.*member = median(std::move(values));
  }
  return result;
}

std::vector<Times> median_times(const std::vector<std::vector<Times>>& steps) {
  std::vector<Times> result;
  if (steps.empty()) return result;
  result.reserve(steps.front().size());
  for (std::size_t node = 0; node < steps.front().size(); ++node) {
    std::vector<Times> of_node;
    of_node.reserve(steps.size());
    for (const std::vector<Times>& step : steps) of_node.push_back(step[node]);
    result.push_back(median_of(of_node));
  }
  return result;
}

}  // namespace symprof::measure
