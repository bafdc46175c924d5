// The verb plan throughput: the batch, with its checkpoint plan, that has the most samples per
// second.
#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "plan/checkpoint/answers.h"
#include "plan/largest_size.h"
#include "session/batch_name.h"
#include "session/checkpoint_answer.h"
#include "session/opened_model.h"
#include "session/session.h"
#include "session/throughput_answer.h"
#include "session/try_batches.h"

namespace symprof {
namespace {

class Batches {
 public:
  Batches(Session& session, const Settings& settings, std::string name,
          const ThroughputQuestion& question)
      : session_(session), settings_(settings), name_(std::move(name)), question_(question) {}

  ThroughputAnswer::OfDevice on(const DeviceSpec& device) {
    return try_batches(device, 1, [&](std::int64_t batch, ThroughputAnswer::OfDevice& found) {
      try {
        return planned(batch, found);
      } catch (const Error& error) {
        if (batch == 1) throw;
        found.refusal = error.summary(unspelled);
        return std::optional<ThroughputAnswer::Row>();
      }
    });
  }

 private:
  std::optional<ThroughputAnswer::Row> planned(std::int64_t batch,
                                               ThroughputAnswer::OfDevice& found) {
    Settings settings = settings_;
    settings.step.device = found.device;
    set_size(settings, name_, batch);
    const CheckpointAnswer answer = session_.plan_checkpoint(
        settings, {.budgets = {question_.budget_bytes.value_or(found.device.memory_bytes)},
                   .regions = question_.regions,
                   .curve_points = 0,
                   .wants_alternatives = false});
    if (batch == 1) found.unknown_calls = answer.unknown_calls;
    const std::optional<plan::SimulatedPlan>& best = answer.answers.front().best;
    if (!best) return std::nullopt;
    return ThroughputAnswer::Row{
        .batch = batch, .plain_step_us = answer.plain_step_us, .plan = *best};
  }

  Session& session_;
  const Settings& settings_;
  std::string name_;
  const ThroughputQuestion& question_;
};

}  // namespace

ThroughputAnswer::OfDevice try_batches(const DeviceSpec& device, std::int64_t start,
                                       const TryBatch& try_batch) {
  ThroughputAnswer::OfDevice found{.device = device};
  std::map<std::int64_t, ThroughputAnswer::Row> rows;
  const plan::LargestSize largest =
      plan::find_largest_size(start, std::nullopt, [&](std::int64_t batch) {
        found.refusal.clear();
        const std::optional<ThroughputAnswer::Row> row = try_batch(batch, found);
        if (row) rows[batch] = *row;
        return row.has_value();
      });
  found.refused = largest.refused;
  for (auto& [batch, row] : rows) found.rows.push_back(std::move(row));
  return found;
}

const ThroughputAnswer::Row* ThroughputAnswer::OfDevice::fastest() const {
  const auto found = std::ranges::max_element(rows, {}, &Row::samples_per_second);
  return found == rows.end() ? nullptr : &*found;
}

ThroughputAnswer Session::plan_throughput(const Settings& settings,
                                          const ThroughputQuestion& question) {
  const std::string name = batch_to_find(*this, settings);
  if (name.empty())
    throw Error(model_->file.path, "has no batch that could be another one.",
                "The model has to be exported with a batch that is a symbol.");
  Settings smallest = settings;
  set_size(smallest, name, 1);
  const PreparedModel model = prepare(smallest);
  ThroughputAnswer answer{.settings = model.settings, .model = model.graph.path};
  Batches batches(*this, settings, name, question);
  std::vector<DeviceSpec> devices = question.devices;
  if (devices.empty()) devices.push_back(device_of(settings));
  for (const DeviceSpec& device : devices) answer.devices.push_back(batches.on(device));
  return answer;
}

}  // namespace symprof
