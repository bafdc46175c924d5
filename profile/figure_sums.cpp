#include "profile/figure_sums.h"

namespace symprof::profile {
namespace {

bool are_counted(CallsOf calls, Phase phase) {
  switch (calls) {
    case CallsOf::none:
      return false;
    case CallsOf::forward:
      return phase == Phase::forward || phase == Phase::loss;
    case CallsOf::backward:
      return is_in_backward(phase);
    case CallsOf::recompute:
      return phase == Phase::recompute;
    case CallsOf::optimizer:
      return phase == Phase::optimizer;
  }
  return false;
}

/// Adds times that are not figures.
void add_times_of(RowFigures& row, const RowFigures& other) {
  for (std::size_t i = 0; i < row.times.limited_ns.size(); ++i)
    row.times.limited_ns[i] += other.times.limited_ns[i];
  row.times.unknown.forward += other.times.unknown.forward;
  row.times.unknown.backward += other.times.unknown.backward;
  row.times.unknown.optimizer += other.times.unknown.optimizer;
  row.times.are_there |= other.times.are_there;
}

}  // namespace

std::optional<std::int64_t> value_of(const Figure& figure, const RowFigures& row) {
  if (figure.counter == nullptr) return std::nullopt;
  const bool is_time = figure.unit == FigureUnit::microseconds || figure.unit == FigureUnit::share;
  if (is_time && !row.times.are_there) return std::nullopt;
  // Rows do not know if the step has several ranks: 0 is shown as empty.
  if (figure.counter == &RowFigures::comm_bytes && row.comm_bytes == 0) return std::nullopt;
  return row.*figure.counter + (figure.products == nullptr ? 0 : row.*figure.products);
}

void add_call(RowFigures& row, Phase phase, const Cost& cost) {
  ++row.calls;
  row.confidence = least_certain(row.confidence, cost.confidence);
  for (const Figure& figure : figures())
    if (figure.cost != nullptr && are_counted(figure.calls, phase))
      add_to(row.*figure.counter, figure.cost(cost).value());
}

void add_node(RowFigures& row, const RowFigures& node) {
  for (const Figure& figure : figures())
    if (figure.counter != nullptr && figure.fold == Fold::sum)
      add_to(row.*figure.counter, node.*figure.counter);
  add_times_of(row, node);
  row.confidence = least_certain(row.confidence, node.confidence);
}

void add_row(RowFigures& sum, const RowFigures& row) {
  for (const Figure& figure : figures())
    if (figure.counter != nullptr && figure.fold != Fold::running)
      add_to(sum.*figure.counter, row.*figure.counter);
  add_times_of(sum, row);
  sum.confidence = least_certain(sum.confidence, row.confidence);
}

void run_on(RowFigures& sums, RowFigures& row) {
  for (const Figure& figure : figures()) {
    if (figure.fold != Fold::running) continue;
    add_to(sums.*figure.counter, row.*figure.summed);
    row.*figure.counter = sums.*figure.counter;
  }
}

}  // namespace symprof::profile
