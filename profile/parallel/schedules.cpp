// The orders of torch/distributed/pipelining/schedules.py (2.13), computation only: waits are found
// by run_pipeline.
#include "profile/parallel/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <numeric>

#include "base/error.h"

namespace symprof::profile {
namespace {

constexpr int any_stages = 1 << 20;
constexpr PipelineKindRow kind_rows[] = {
    {PipelineKind::gpipe, "GPipe", "gpipe", 1, 1, false, false},
    {PipelineKind::one_f_one_b, "1F1B", "1f1b", 1, 1, false, false},
    {PipelineKind::interleaved, "Interleaved1F1B", "interleaved", 2, any_stages, false, false},
    {PipelineKind::looped_bfs, "LoopedBFS", "looped-bfs", 2, any_stages, false, false},
    {PipelineKind::interleaved_zero_bubble, "InterleavedZeroBubble", "zero-bubble", 1, any_stages,
     true, false},
    {PipelineKind::zbv_zero_bubble, "ZBVZeroBubble", "zbv", 2, 2, true, true},
    {PipelineKind::dual_pipe_v, "DualPipeV", "dualpipev", 2, 2, true, true}};

using Actions = std::vector<PipelineAction>;

Actions gpipe(const Pipeline& pipeline, int rank) {
  Actions actions;
  for (const Computation one : {Computation::forward, Computation::backward})
    for (int i = 0; i < pipeline.microbatches; ++i) actions.push_back({one, rank, i});
  return actions;
}

/// Schedule1F1B._step_microbatches: later stages start with fewer forwards.
Actions one_f_one_b(const Pipeline& pipeline, int rank) {
  Actions actions;
  int forward = 0, backward = 0;
  const int first = std::min(pipeline.microbatches, pipeline.ranks - rank);
  while (forward < first) actions.push_back({Computation::forward, rank, forward++});
  while (backward < pipeline.microbatches) {
    actions.push_back({Computation::backward, rank, backward++});
    if (forward < pipeline.microbatches) actions.push_back({Computation::forward, rank, forward++});
  }
  return actions;
}

Actions looped_bfs(const Pipeline& pipeline, int rank) {
  Actions actions;
  for (int chunk = 0; chunk < pipeline.stages_per_rank; ++chunk)
    for (int i = 0; i < pipeline.microbatches; ++i)
      actions.push_back({Computation::forward, chunk * pipeline.ranks + rank, i});
  for (int chunk = pipeline.stages_per_rank - 1; chunk >= 0; --chunk)
    for (int i = pipeline.microbatches - 1; i >= 0; --i)
      actions.push_back({Computation::backward, chunk * pipeline.ranks + rank, i});
  return actions;
}

/// Appends actions, counting the microbatches of each stage and computation.
class Writer {
 public:
  void add(Computation computation, int stage, bool overlaps_next = false) {
    // A whole backward counts as both of its halves.
    const bool is_whole = computation == Computation::backward;
    const Computation counted = is_whole ? Computation::backward_input : computation;
    const int microbatch = counts_[{stage, counted}]++;
    if (computation == Computation::backward_input) pending_.push_back({stage, microbatch});
    if (is_whole) ++counts_[{stage, Computation::backward_weight}];
    actions_.push_back({computation, stage, microbatch, overlaps_next});
  }

  /// Adds the longest-pending weight gradient, if any.
  void add_pending_weight() {
    if (pending_.empty()) return;
    const auto [stage, microbatch] = pending_.front();
    pending_.pop_front();
    actions_.push_back({Computation::backward_weight, stage, microbatch});
  }

  int count(Computation computation, int stage) { return counts_[{stage, computation}]; }
  bool has_pending() const { return !pending_.empty(); }
  Actions take() { return std::move(actions_); }

 private:
  std::map<std::pair<int, Computation>, int> counts_;
  std::deque<std::pair<int, int>> pending_;
  Actions actions_;
};

/// Interleaved1F1B and InterleavedZeroBubble (_get_1f1b_rank_ops): forwards run rounds of
/// microbatches chunk by chunk, backwards through the chunks in reverse.
Actions interleaved(const Pipeline& pipeline, int rank) {
  const bool splits = row_of(pipeline.kind).splits_backward;
  const int chunks = pipeline.stages_per_rank, total = chunks * pipeline.microbatches;
  const int per_round = pipeline.microbatches / std::max(1, pipeline.microbatches / pipeline.ranks);
  const int first =
      std::min((chunks - 1) * per_round + (splits ? 1 : 2) * (pipeline.ranks - 1 - rank), total);
  Writer writer;
  const auto forward = [&](int step) {
    writer.add(Computation::forward, step / per_round % chunks * pipeline.ranks + rank);
  };
  for (int step = 0; step < first; ++step) forward(step);
  for (int step = first; step < total + first; ++step) {
    if (step < total) forward(step);
    const int chunk = chunks - 1 - (step - first) / per_round % chunks;
    writer.add(splits ? Computation::backward_input : Computation::backward,
               chunk * pipeline.ranks + rank);
    if (splits && step - first >= rank) writer.add_pending_weight();
  }
  while (writer.has_pending()) writer.add_pending_weight();
  return writer.take();
}

/// ZBVZeroBubble: two stages per rank, down and up; actions beyond the number of microbatches are
/// dropped at the end.
class ZbvRank {
 public:
  ZbvRank(const Pipeline& pipeline, int rank)
      : pipeline_(pipeline), rank_(rank), down_(rank), up_(pipeline.stages() - 1 - rank) {}

  Actions actions() {
    const int left = pipeline_.ranks - rank_;
    repeat(2 * left - 1, [&] { forward(down_); });
    repeat(rank_, [&] { forward(up_), forward(down_); });
    repeat(left, [&] { forward(up_), whole(up_); });
    const int most = std::max(2 * pipeline_.ranks - 1, pipeline_.microbatches);
    while (forwards_[up_] < forwards_[down_] || forwards_[down_] < most) {
      if (forwards_[down_] < most) forward(down_);
      whole(down_), forward(up_), whole(up_);
    }
    repeat(rank_, [&] { input(down_), input(up_); });
    repeat(left, [&] { input(down_), weight(down_); });
    while (weights_[up_] < inputs_[up_]) weight(up_);
    while (weights_[down_] < inputs_[down_]) weight(down_);
    std::erase_if(found_, [&](const PipelineAction& action) {
      return action.microbatch >= pipeline_.microbatches;
    });
    return std::move(found_);
  }

 private:
  template <class Do>
  static void repeat(int times, const Do& todo) {
    for (int i = 0; i < times; ++i) todo();
  }
  void forward(int stage) { found_.push_back({Computation::forward, stage, forwards_[stage]++}); }
  void input(int stage) {
    found_.push_back({Computation::backward_input, stage, inputs_[stage]++});
  }
  void weight(int stage) {
    found_.push_back({Computation::backward_weight, stage, weights_[stage]++});
  }
  void whole(int stage) { input(stage), weight(stage); }

  const Pipeline& pipeline_;
  int rank_, down_, up_;
  std::map<int, int> forwards_, inputs_, weights_;
  Actions found_;
};

/// DualPipeV (deepseek-ai/DualPipe), step by step as PyTorch numbers them.
class DualPipeRank {
 public:
  DualPipeRank(const Pipeline& pipeline, int rank)
      : pipeline_(pipeline), rank_(rank), down_(rank), up_(pipeline.stages() - 1 - rank) {}

  Actions actions() {
    const int after = pipeline_.ranks - rank_ - 1;
    for (int i = 0; i < 2 * after; ++i) writer_.add(Computation::forward, down_);  // 1
    for (int i = 0; i < rank_ + 1; ++i) {                                          // 2
      writer_.add(Computation::forward, down_);
      writer_.add(Computation::forward, up_);
    }
    for (int i = 0; i < after; ++i) {  // 3
      writer_.add(Computation::backward_input, up_);
      writer_.add_pending_weight();
      writer_.add(Computation::forward, up_);
    }
    const int main = pipeline_.microbatches - pipeline_.ranks * 2 + rank_ + 1;  // 4
    for (int i = 0; i < main; ++i) {
      // The last rank does not overlap its first two, which makes the bubble smaller.
      pair(down_, up_, i > 0 || after > 0);
      pair(up_, down_, true);
    }
    for (int i = 0; i < after; ++i) {  // 5
      writer_.add(Computation::backward, up_);
      pair(up_, down_, true);
    }
    drain(after);  // 6 to 8
    return writer_.take();
  }

 private:
  void pair(int forward, int backward, bool overlaps) {
    writer_.add(Computation::forward, forward, overlaps);
    writer_.add(Computation::backward, backward);
  }

  /// Half of the last backwards are split; their weight gradients fill idle slots.
  void drain(int after) {
    bool splits = false;
    const auto backward = [&](int stage) {
      writer_.add(splits ? Computation::backward_input : Computation::backward, stage);
    };
    for (int i = 0; i < rank_ + 1; ++i) {
      const bool is_middle = i == (rank_ + 1) / 2;
      splits = splits || (is_middle && rank_ % 2 == 1);
      backward(up_);
      splits = splits || (is_middle && rank_ % 2 == 0);
      backward(down_);
    }
    for (int i = 0; i < after; ++i) {
      writer_.add_pending_weight();
      backward(down_);
    }
    for (int i = 0; i < rank_ + 1; ++i) writer_.add_pending_weight();
  }

  const Pipeline& pipeline_;
  int rank_, down_, up_;
  Writer writer_;
};

Actions actions_of_rank(const Pipeline& pipeline, int rank) {
  switch (pipeline.kind) {
    case PipelineKind::gpipe:
      return gpipe(pipeline, rank);
    case PipelineKind::one_f_one_b:
      return one_f_one_b(pipeline, rank);
    case PipelineKind::looped_bfs:
      return looped_bfs(pipeline, rank);
    case PipelineKind::zbv_zero_bubble:
      return ZbvRank(pipeline, rank).actions();
    case PipelineKind::dual_pipe_v:
      return DualPipeRank(pipeline, rank).actions();
    default:
      return interleaved(pipeline, rank);
  }
}

void check(const Pipeline& pipeline) {
  const PipelineKindRow& row = row_of(pipeline.kind);
  const auto refuse = [&](const std::string& got, const std::string& wanted) {
    throw Error("schedule " + std::string(row.name), got, wanted);
  };
  if (pipeline.ranks < 1 || pipeline.microbatches < 1)
    refuse("has no ranks or no microbatches", "Give at least one of each.");
  if (pipeline.stages_per_rank < row.least_stages || pipeline.stages_per_rank > row.most_stages)
    refuse(fmt::format("{} stages for each rank", pipeline.stages_per_rank),
           fmt::format("It takes {}{}.", row.most_stages == any_stages ? "at least " : "exactly ",
                       row.least_stages));
  const int rounds = std::max(1, pipeline.microbatches / pipeline.ranks);
  const bool has_rounds = pipeline.kind == PipelineKind::interleaved ||
                          pipeline.kind == PipelineKind::interleaved_zero_bubble;
  if (has_rounds && pipeline.microbatches % rounds != 0)
    refuse(fmt::format("{} microbatches", pipeline.microbatches),
           fmt::format("It takes a multiple of its {} rounds.", rounds));
  if (pipeline.kind == PipelineKind::dual_pipe_v && pipeline.microbatches < pipeline.stages())
    refuse(fmt::format("{} microbatches", pipeline.microbatches),
           fmt::format("It takes at least as many as there are stages, {}.", pipeline.stages()));
}

char letter_of(Computation computation) { return "FBIW"[static_cast<int>(computation)]; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::tolower(letter));
  return result;
}

}  // namespace

std::span<const PipelineKindRow> pipeline_kinds() { return kind_rows; }

const PipelineKindRow& row_of(PipelineKind kind) {
  return kind_rows[static_cast<std::size_t>(kind)];
}

std::optional<PipelineKind> pipeline_called(std::string_view name) {
  for (const PipelineKindRow& row : kind_rows)
    if (lower(name) == lower(row.name) || lower(name) == row.short_name) return row.kind;
  return std::nullopt;
}

int Pipeline::rank_of(int stage) const {
  const int round = stage / ranks, place = stage % ranks;
  return row_of(kind).is_v && round % 2 == 1 ? ranks - 1 - place : place;
}

std::string text_of(std::span<const PipelineAction> actions) {
  const auto one = [](const PipelineAction& action) {
    return fmt::format("{}{}{}", action.stage, letter_of(action.computation), action.microbatch);
  };
  if (actions.size() == 2)
    return fmt::format("({};{})OVERLAP_F_B", one(actions[0]), one(actions[1]));
  return one(actions[0]);
}

std::vector<std::vector<PipelineAction>> actions_of(const Pipeline& pipeline) {
  check(pipeline);
  std::vector<std::vector<PipelineAction>> actions;
  actions.reserve(static_cast<std::size_t>(pipeline.ranks));
  for (int rank = 0; rank < pipeline.ranks; ++rank)
    actions.push_back(actions_of_rank(pipeline, rank));
  return actions;
}

}  // namespace symprof::profile
