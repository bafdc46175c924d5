#include "plan/fitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "plan/changes.h"
#include "trace/graph/named_sizes.h"

namespace symprof::plan {

void throw_of_largest(const Error& error, const std::string& dimension) {
  if (error.is_about("sizes", dimension)) throw error.at(SettingRef{"max", dimension});
  throw error;
}

Fitting::Fitting(Trial& trial, const Budget& budget) : trial_(trial) {
  report_.device = trial.situation().step.device;
  report_.budget = budget;
}

FitReport Fitting::run(const std::string& dimension) {
  report_.recording = trial_.record({});
  report_.fit = fit(report_.recording, trial_.loop({}));
  if (!dimension.empty())
    find_largest(dimension);
  else if (report_.fit.fits())
    report_.time = trial_.time(report_.recording);
  if (!report_.fit.fits()) add_changes();
  return std::move(report_);
}

Fit Fitting::fit(const Recording& recording, const profile::LoopOptions& loop) const {
  return plan::fit(recording, report_.device, report_.budget, loop);
}

/// True if the loop fits with `change`; false where the model does not run with it.
bool Fitting::fits(const Change& change) {
  try {
    return plan::fits(trial_.record(change), report_.device, report_.budget, trial_.loop(change));
  } catch (const Error&) {
    return false;
  }
}

Change Fitting::at_size(const std::string& dimension, std::int64_t size) const {
  if (dimension == cache_dimension) return {{{"kv_cache", std::to_string(size)}}};
  return {{{"sizes", fmt::format("{}={}", dimension, size)}}};
}

/// A size that the model does not run with counts as one that does not fit, and the report has the
/// reason. The first size is the user's or the file's: where that does not run, this throws Error.
void Fitting::find_largest(const std::string& dimension) {
  report_.dimension = dimension;
  trace::NamedDimension range;
  if (dimension == cache_dimension) {
    range.size = trial_.situation().step.kv_cache.value_or(1);
  } else {
    range = trace::dimension_called(trial_.graph(), dimension);
    range.size = trial_.given_size(dimension).value_or(range.size);
  }
  std::map<std::int64_t, std::string> refusals;
  bool is_first = true;
  const auto fits = [&](std::int64_t multiple) {
    const std::int64_t size = multiple * range.factor;
    try {
      const Recording recording = trial_.record(at_size(dimension, size));
      is_first = false;
      return plan::fits(recording, report_.device, report_.budget, trial_.loop({}));
    } catch (const Error& error) {
      if (is_first) throw_of_largest(error, dimension);
      refusals.emplace(size, error.problem(unspelled));
      return false;
    }
  };
  const auto multiples = [&](std::int64_t size) {
    return std::max(size / range.factor, std::int64_t{1});
  };
  LargestSize largest =
      find_largest_size(multiples(range.size),
                        range.most ? std::optional(multiples(*range.most)) : std::nullopt, fits);
  for (std::optional<std::int64_t>* size : {&largest.fits, &largest.refused})
    if (*size) **size *= range.factor;
  if (largest.refused && refusals.contains(*largest.refused))
    largest.refusal = refusals.at(*largest.refused);
  if (largest.fits) {
    const Recording there = trial_.record(at_size(dimension, *largest.fits));
    report_.at_largest = fit(there, trial_.loop({}));
    report_.time = trial_.time(there);
  }
  report_.largest = std::move(largest);
}

/// True when `change` saves memory. A change that saves none is left out; one that the model does
/// not run with is reported as not tried.
bool Fitting::add_change(const Change& change) {
  try {
    const Fit there = fit(trial_.record(change), trial_.loop(change));
    if (there.wanted.peak_reserved_bytes >= report_.fit.wanted.peak_reserved_bytes) return false;
    report_.changes.push_back({change, there});
    return true;
  } catch (const Error& error) {
    report_.not_tried.push_back({change, error.problem(unspelled)});
    return false;
  }
}

/// Changes that make the loop fit come first; each group is sorted by ascending cost.
void Fitting::add_changes() {
  std::vector<Change> helpful;
  for (const Change& change : possible_changes(trial_.graph(), trial_.situation()))
    if (add_change(change)) helpful.push_back(change);
  add_together(helpful);
  for (const Change& change : other_recipes(trial_.situation())) add_change(change);
  add_smaller_batch();
  std::stable_partition(report_.changes.begin(), report_.changes.end(),
                        [](const TriedChange& tried) { return tried.fit.fits(); });
}

/// Where no single change is enough: combines the cheapest two, three and so on until the loop
/// fits, or all.
void Fitting::add_together(const std::vector<Change>& helpful) {
  const auto fits = [](const TriedChange& tried) { return tried.fit.fits(); };
  if (helpful.size() < 2 || std::ranges::any_of(report_.changes, fits)) return;
  Change together;
  std::size_t count = 0;
  for (const Change& change : helpful) {
    together = together + change;
    if (++count < 2 || !add_change(together)) continue;
    if (report_.changes.back().fit.fits()) return;
    if (count < helpful.size()) report_.changes.pop_back();
  }
}

/// Adds the whole batch in the fewest parts that fit, a power of two, and the largest batch that
/// fits.
void Fitting::add_smaller_batch() {
  const std::optional<trace::BatchDimension> batch = trace::batch_dimension(trial_.graph());
  if (!batch || batch->size <= batch->least) return;
  const std::string name = trial_.name_of(batch->symbol);
  const int given_parts = trial_.loop({}).micro_batches;
  if (trial_.situation().step.mode != Mode::inference && given_parts == 1)
    for (int parts = 2; batch->size % parts == 0 && batch->size / parts >= batch->least; parts *= 2)
      if (const Change change = smaller_batch(name, batch->size / parts, parts); fits(change)) {
        add_change(change);
        break;
      }
  const auto fits_at = [&](std::int64_t size) {
    return size >= batch->least && fits(smaller_batch(name, size, given_parts));
  };
  const LargestSize largest =
      find_largest_size(std::max(batch->size / 2, batch->least), batch->size - 1, fits_at);
  if (largest.fits) add_change(smaller_batch(name, *largest.fits, given_parts));
}

}  // namespace symprof::plan
