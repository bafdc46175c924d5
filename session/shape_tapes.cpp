#include "session/shape_tapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "profile/memory/peak_uncertainty.h"
#include "profile/profile.h"
#include "session/read_text.h"

namespace symprof {
namespace {

/// Without all that is about gradients and updates.
Settings evaluation_of(Settings settings) {
  const StepOptions step = std::move(settings.step);
  settings.mode = Mode::inference;
  settings.step = {.autocast = step.autocast,
                   .attention = step.attention,
                   .float32_matmul_precision = step.float32_matmul_precision,
                   .lifetimes = step.lifetimes,
                   .unbacked = step.unbacked,
                   .device = step.device};
  settings.loop = {.allocator = settings.loop.allocator};
  settings.time.reset();
  return settings;
}

}  // namespace

ShapeTapes::ShapeTapes(Session& session, Settings settings, const RunQuestion& question)
    : session_(session),
      settings_(std::move(settings)),
      batch_dim_(question.batch_dim),
      length_dims_(settings::split_list(question.length_dim)),
      tapes_(1) {}

Settings ShapeTapes::settings_at(const plan::Batch& batch) const {
  Settings sized = settings_;
  set_size(sized, batch_dim_, batch.samples);
  for (const std::string& name : length_dims_) set_size(sized, name, batch.length);
  return sized;
}

const std::optional<StepTime>& ShapeTapes::time_of(const plan::Batch& batch) const {
  return times_.at({batch.samples, batch.length});
}

std::int32_t ShapeTapes::training(const plan::Batch& batch, int pass, int passes,
                                  bool is_first_update) {
  const Key key{{batch.samples, batch.length},
                passes == 1 && settings_.loop.micro_batches > 1,
                is_first_update};
  auto found = training_.find(key);
  if (found == training_.end()) found = training_.emplace(key, record(batch, key)).first;
  const std::vector<std::int32_t>& tapes = found->second;
  return tapes[profile::place_of_pass(pass, passes, tapes.size())];
}

std::vector<std::int32_t> ShapeTapes::record(const plan::Batch& batch, const Key& key) {
  Recording recording;
  try {
    recording = record(settings_at(batch));
  } catch (const Error& error) {
    throw error.inside(fmt::format("a batch of {} x {}", batch.samples, batch.length));
  }
  profile::LoopOptions loop = settings_.loop;
  if (key.is_alone) loop.micro_batches = 1;
  profile::StepTapes made = profile::tapes_of_recording(recording, device_of(settings_), loop);
  if (tapes_.front().events.empty()) tapes_.front() = std::move(made.before);
  std::vector<std::int32_t> tapes;
  for (profile::StepTape& tape : key.is_first ? made.first : made.later)
    tapes.push_back(add(std::move(tape)));
  if (times_.contains(key.shape)) return tapes;
  std::optional<StepTime>& time = times_[key.shape];
  if (settings_.time) {
    Profile profile = profile::evaluate_costs(std::move(recording));
    add_times(profile, prepared_);
    time = std::move(profile.time);
    time->schedule.clear();
  }
  return tapes;
}

std::int32_t ShapeTapes::between(const BetweenSteps& steps) {
  const auto found = between_.find(steps.sizes);
  if (found != between_.end()) return found->second;
  Settings settings = evaluation_of(settings_);
  for (const auto& [name, size] : steps.sizes) set_size(settings, name, size);
  const Settings trained = prepared_;
  profile::StepTapes made =
      profile::tapes_of_recording(record(settings), device_of(settings), settings.loop);
  prepared_ = trained;
  return between_[steps.sizes] = add(profile::as_function(std::move(made.later.front())));
}

Recording ShapeTapes::record(const Settings& settings) {
  PreparedModel model = session_.prepare(settings);
  Recording recording = session_.record(model.graph, model.settings.step);
  prepared_ = std::move(model.settings);
  model_ = recording.path;
  set_aside_bytes_ =
      std::max(set_aside_bytes_, profile::peak_uncertainty(recording).margin_bytes());
  return recording;
}

std::int32_t ShapeTapes::add(profile::StepTape tape) {
  tape.events.shrink_to_fit();
  tapes_.push_back(std::move(tape));
  return static_cast<std::int32_t>(tapes_.size()) - 1;
}

}  // namespace symprof
