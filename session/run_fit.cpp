#include "session/run_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "plan/fit.h"
#include "plan/on_device.h"
#include "profile/memory/step_memory.h"
#include "session/run_order.h"
#include "session/shape_tapes.h"

namespace symprof {
namespace {

using profile::RunMemory;
using profile::RunOptions;
using profile::RunRow;

/// Settings of the allocator that are worth a try, each alone.
constexpr const char* tried_confs[] = {"expandable_segments:True", "roundup_power2_divisions:4",
                                       "max_split_size_mb:256", "garbage_collection_threshold:0.8"};

std::int64_t peak_reserved(const RunMemory& memory) {
  std::int64_t peak = 0;
  for (const RunRow& row : memory.rows) peak = std::max(peak, row.peak_reserved_bytes);
  return peak;
}

/// The run without a limit, and on the device.
struct Simulated {
  RunMemory wanted, there;
};

class Player {
 public:
  Player(const ShapeTapes& tapes, const plan::Budget& budget, const profile::LoopOptions& loop)
      : tapes_(tapes), budget_(budget), loop_(loop) {}

  /// Without a limit, the allocator collects no garbage.
  static profile::AllocatorSettings unlimited(profile::AllocatorSettings with) {
    with.garbage_collection_threshold = 0;
    return with;
  }
  RunMemory without_limit(const RunOrder& order, const profile::AllocatorSettings& with) const {
    return profile::play_run(tapes_.tapes(), order.tapes, {.allocator = with});
  }
  RunMemory there(const RunOrder& order, const profile::AllocatorSettings& with) const {
    const profile::StepMemoryOptions options = on_device(with);
    return profile::play_run(
        tapes_.tapes(), order.tapes,
        {.allocator = options.loop.allocator, .device_bytes = options.device_bytes});
  }
  bool never_asks_for_more(const RunMemory& wanted, const profile::AllocatorSettings& with) const {
    return !wanted.refused && plan::never_asks_for_more(peak_reserved(wanted), on_device(with));
  }
  Simulated play(const RunOrder& order) const {
    Simulated both{.wanted = without_limit(order, loop_.allocator), .there = {}};
    both.there = never_asks_for_more(both.wanted, loop_.allocator) ? both.wanted
                                                                   : there(order, loop_.allocator);
    return both;
  }
  /// `as_is`: the run without a limit, with the settings as given.
  TriedAllocator play_with(const RunOrder& order, const std::string& conf,
                           const RunMemory& as_is) const {
    profile::AllocatorSettings with = profile::parse_allocator_settings(conf);
    with.equal_blocks = loop_.allocator.equal_blocks;
    const RunMemory wanted =
        unlimited(with) == unlimited(loop_.allocator) ? as_is : without_limit(order, with);
    const bool is_enough = never_asks_for_more(wanted, with);
    const RunMemory limited = is_enough ? RunMemory() : there(order, with);
    return {.conf = conf,
            .reserved_bytes = peak_reserved(wanted),
            .fits = is_enough || !limited.refused,
            .alloc_retries = is_enough ? 0 : limited.rows.back().alloc_retries};
  }

 private:
  profile::StepMemoryOptions on_device(const profile::AllocatorSettings& with) const {
    profile::LoopOptions loop = loop_;
    loop.allocator = with;
    return plan::on_device({budget_.device_bytes, budget_.free_bytes(), budget_.fraction},
                           tapes_.set_aside_bytes(), loop);
  }

  const ShapeTapes& tapes_;
  const plan::Budget& budget_;
  const profile::LoopOptions& loop_;
};

std::vector<plan::Batch> batches_of(const RunQuestion& question, const plan::BatchRule& rule) {
  return question.data.shapes.empty() ? plan::make_batches(question.data.lengths, rule)
                                      : question.data.shapes;
}

void check(const Settings& settings, const RunQuestion& question) {
  const bool has_shapes = !question.data.shapes.empty();
  if (has_shapes && (question.wants_largest || question.shuffles > 0))
    throw Error(SettingRef{question.wants_largest ? "max" : "shuffles"},
                "the batches are given as shapes, so that nothing is left to be batched.",
                fmt::format("Give lengths of samples in {}.", setting("lengths")));
  if (settings.step.parallel)
    throw Error(SettingRef{"parallel"}, "is not simulated over batches that differ.",
                fmt::format("Leave it or {} out.", setting("lengths")));
  if (!settings.loop.allocator.up_front_bytes.empty())
    throw Error(SettingRef{"alloc_conf", "reserve_up_front_mb"},
                "is not simulated over batches that differ.",
                fmt::format("Leave it or {} out.", setting("lengths")));
}

/// One run of a question: its tapes grow where other batches ask for other shapes.
class Run {
 public:
  Run(Session& session, const Settings& settings, const RunQuestion& question)
      : session_(session),
        settings_(settings),
        question_(question),
        device_(device_of(settings)),
        budget_(budget_of(device_, settings.loop)),
        tapes_(session, settings, question) {}

  RunFit answer() {
    RunFit found{.batches = batches_of(question_, question_.rule)};
    const RunOrder order = order_of(found.batches);
    Simulated both = player().play(order);
    if (question_.tries_settings) try_settings(order, both.wanted, found);
    if (question_.wants_largest) find_largest(found);
    if (question_.shuffles > 0) found.shuffles = shuffle();
    found.time = time_of(found.batches);
    describe(found);
    drop_first_row(both.wanted);
    drop_first_row(both.there);
    found.passes = order.passes;
    found.wanted = std::move(both.wanted);
    found.there = std::move(both.there);
    return found;
  }

 private:
  Player player() const { return {tapes_, budget_, settings_.loop}; }

  RunOrder order_of(const std::vector<plan::Batch>& batches) {
    return run_order(tapes_, batches, settings_.loop.micro_batches, question_);
  }

  void try_settings(const RunOrder& order, const RunMemory& as_is, RunFit& found) const {
    for (const char* conf : tried_confs)
      if (conf != settings_.alloc_conf)
        found.tried.push_back(player().play_with(order, conf, as_is));
    std::ranges::stable_sort(found.tried, {}, [](const TriedAllocator& tried) {
      return std::pair(!tried.fits, tried.reserved_bytes);
    });
  }

  /// If the batch with most tokens alone allocates more than there is, no other batch is recorded.
  /// Its reserved bytes would not decide: among other batches it may reserve less.
  bool fits(const std::vector<plan::Batch>& batches) {
    const plan::Batch heaviest =
        *std::ranges::max_element(batches, {}, &plan::Batch::padded_tokens);
    const RunMemory alone = player().without_limit(order_of({heaviest}), settings_.loop.allocator);
    if (alone.rows.back().peak_allocated_bytes > budget_.available_bytes()) return false;
    return !player().there(order_of(batches), settings_.loop.allocator).refused;
  }

  void find_largest(RunFit& found) {
    plan::BatchRule rule = question_.rule;
    const auto fits_with = [&](std::int64_t most) {
      rule.most = most;
      return fits(batches_of(question_, rule));
    };
    found.largest = plan::find_largest_size(rule.most, all_at_once(), fits_with);
    if (!found.largest->fits) return;
    rule.most = *found.largest->fits;
    found.largest_reserved_bytes =
        peak_reserved(player().play(order_of(batches_of(question_, rule))).there);
  }

  /// With so much all samples are one batch.
  std::int64_t all_at_once() const {
    const auto& lengths = question_.data.lengths;
    const auto samples = static_cast<std::int64_t>(lengths.size());
    if (question_.rule.limit == plan::BatchLimit::samples) return samples;
    return samples * (std::ranges::max(lengths) + question_.rule.pad_to);
  }

  Shuffles shuffle() {
    Shuffles shuffles;
    for (std::int64_t seed = 1; seed <= question_.shuffles; ++seed) {
      plan::BatchRule rule = question_.rule;
      rule.shuffle_seed = static_cast<std::uint64_t>(seed);
      ++shuffles.epochs;
      const RunOrder order = order_of(batches_of(question_, rule));
      if (player().there(order, settings_.loop.allocator).refused) shuffles.refused.push_back(seed);
    }
    return shuffles;
  }

  std::optional<RunTime> time_of(const std::vector<plan::Batch>& batches) const {
    if (!settings_.time) return std::nullopt;
    RunTime sum;
    for (const plan::Batch& batch : batches) {
      const std::optional<StepTime>& time = tapes_.time_of(batch);
      if (!time) return std::nullopt;
      sum.us += time->step_us;
      sum.low_us += time->low_us;
      sum.high_us += time->high_us;
      sum.unknown_calls = std::max(sum.unknown_calls, time->unknown_calls);
    }
    return sum;
  }

  void describe(RunFit& found) {
    found.settings = tapes_.prepared();
    found.device = device_;
    found.budget = budget_;
    found.model = tapes_.model();
    found.set_aside_bytes = tapes_.set_aside_bytes();
    found.shapes = shapes_of(found.batches);
    const auto heaviest = std::ranges::max_element(found.batches, {}, &plan::Batch::padded_tokens);
    const Recording recording = session_.record(tapes_.settings_at(*heaviest));
    found.incomplete_calls =
        profile::simulate_step_memory(recording, device_, {.loop = settings_.loop})
            .incomplete_calls;
  }

  static std::size_t shapes_of(const std::vector<plan::Batch>& batches) {
    std::set<std::pair<std::int64_t, std::int64_t>> shapes;
    for (const plan::Batch& batch : batches) shapes.emplace(batch.samples, batch.length);
    return shapes.size();
  }

  /// Where the model alone is refused, its row stands for the first pass.
  static void drop_first_row(RunMemory& memory) {
    if (memory.refused && memory.refused->row == 0) return;
    memory.rows.erase(memory.rows.begin());
    if (memory.refused) --memory.refused->row;
  }

  Session& session_;
  const Settings& settings_;
  const RunQuestion& question_;
  DeviceSpec device_;
  plan::Budget budget_;
  ShapeTapes tapes_;
};

}  // namespace

std::int64_t RunFit::peak_reserved_bytes() const { return peak_reserved(wanted); }

std::int64_t RunFit::margin_bytes() const {
  return budget.available_bytes() - set_aside_bytes - peak_reserved_bytes();
}

std::size_t RunFit::peak_pass() const {
  const auto peak = std::ranges::max_element(wanted.rows, {}, &RunRow::peak_allocated_bytes);
  return static_cast<std::size_t>(peak - wanted.rows.begin());
}

TokenCounts RunFit::tokens() const {
  TokenCounts sum;
  for (const plan::Batch& batch : batches) {
    sum.given += batch.tokens;
    sum.padded += batch.padded_tokens();
  }
  return sum;
}

RunFit fit_run(Session& session, const Settings& settings, const RunQuestion& question) {
  check(settings, question);
  return Run(session, settings, question).answer();
}

}  // namespace symprof
