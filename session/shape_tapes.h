// Each shape of a run's batches recorded once, as tapes (profile/memory/run/).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/memory/run/recording_tapes.h"
#include "profile/step_time.h"
#include "session/run_question.h"
#include "session/session.h"

namespace symprof {

class ShapeTapes {
 public:
  /// `settings` name their device. `session` must outlive this.
  ShapeTapes(Session& session, Settings settings, const RunQuestion& question);

  /// The tape of a batch in pass `pass` of `passes` before an update.
  std::int32_t training(const plan::Batch& batch, int pass, int passes, bool is_first_update);
  std::int32_t between(const BetweenSteps& steps);
  /// The first is what the loop holds before its first step.
  const std::vector<profile::StepTape>& tapes() const { return tapes_; }

  /// The settings of a step of `batch`.
  Settings settings_at(const plan::Batch& batch) const;
  const Settings& prepared() const { return prepared_; }
  std::size_t shapes() const { return times_.size(); }
  std::int64_t set_aside_bytes() const { return set_aside_bytes_; }
  /// Of a pass of a batch that was recorded; empty: not requested.
  const std::optional<StepTime>& time_of(const plan::Batch& batch) const;
  const std::string& model() const { return model_; }

 private:
  struct Shape {
    std::int64_t samples = 0, length = 0;
    auto operator<=>(const Shape&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Key {
    Shape shape;
    bool is_alone = false;  ///< A pass that alone is before its update, where others are not.
    bool is_first = false;  ///< Of the first update.
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  Recording record(const Settings& settings);
  std::vector<std::int32_t> record(const plan::Batch& batch, const Key& key);
  std::int32_t add(profile::StepTape tape);

  Session& session_;
  Settings settings_, prepared_;
  std::string batch_dim_;
  std::vector<std::string> length_dims_;
  std::string model_;
  std::vector<profile::StepTape> tapes_;
  std::map<Key, std::vector<std::int32_t>> training_;
  std::map<std::vector<std::pair<std::string, std::int64_t>>, std::int32_t> between_;
  std::map<Shape, std::optional<StepTime>> times_;
  std::int64_t set_aside_bytes_ = 0;
};

}  // namespace symprof
