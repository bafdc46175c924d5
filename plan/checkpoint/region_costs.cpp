#include "plan/checkpoint/region_costs.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "plan/checkpoint/min_cut.h"
#include "profile/memory/device_block.h"
#include "record/region_of_call.h"

namespace symprof::plan {
namespace {

bool is_of_forward(const CallRecord& call) { return call.phase == Phase::forward; }

/// True if the operator modifies its first argument and returns it.
bool is_in_place(const std::string& op) { return op.ends_with('_') && !op.ends_with("__"); }

[[noreturn]] void refuse_difference(const Recording& recording) {
  throw Error(recording.path, "does not make the same calls with checkpoints as without them",
              "No plan can be made for it.");
}

/// By storage: true if it is alive when backward begins.
std::vector<bool> outlive_forward(const Recording& recording) {
  std::vector<bool> alive(recording.storages.size(), true);
  for (const MemoryEvent& event : recording.events) {
    if (event.kind != EventKind::free || event.call == none) continue;
    const Phase phase = recording.calls[static_cast<std::size_t>(event.call)].phase;
    if (phase == Phase::forward || phase == Phase::loss)
      alive[static_cast<std::size_t>(event.storage)] = false;
  }
  return alive;
}

class CostReader {
 public:
  CostReader(const Recording& plain, const Recording& again,
             const std::vector<std::string>& modules, const std::vector<double>& cost_us,
             double policy_us)
      : plain_(plain),
        again_(again),
        cost_us_(cost_us),
        policy_us_(policy_us),
        alive_plain_(outlive_forward(plain)),
        alive_again_(outlive_forward(again)) {
    for (std::size_t i = 0; i < modules.size(); ++i) index_.emplace(modules[i], i);
    regions_.resize(modules.size());
    for (std::size_t i = 0; i < modules.size(); ++i) regions_[i].module = modules[i];
  }

  std::vector<RegionCosts> read() {
    pair_calls();
    for (std::size_t i = 0; i < forward_again_.size(); ++i) {
      const auto found = index_.find(region_of(forward_again_[i]));
      if (found != index_.end()) add_forward_call(regions_[found->second], i);
    }
    find_changed_storages();
    for (const auto& [node, places] : forward_runs_) count_calls(places);
    for (const auto& [node, calls] : runs_) add_run(node, calls);
    for (RegionCosts& region : regions_) sum_up(region);
    std::erase_if(regions_,
                  [](const RegionCosts& region) { return region.recomputed_before == none; });
    std::ranges::stable_sort(regions_, {}, &RegionCosts::last_call);
    for (std::size_t i = 0; i < regions_.size(); ++i) regions_[i].side = static_cast<int>(i % 2);
    return std::move(regions_);
  }

 private:
  const CallRecord& again(CallId call) const {
    return again_.calls[static_cast<std::size_t>(call)];
  }
  const CallRecord& plain(CallId call) const {
    return plain_.calls[static_cast<std::size_t>(call)];
  }

  std::string region_of(CallId call) const { return region_of_call(again_, call); }

  /// Pairs the forward and the backward calls of both steps, in order: checkpoints only add calls.
  void pair_calls() {
    std::vector<CallId> others_plain, others_again;
    for (std::size_t i = 0; i < plain_.calls.size(); ++i)
      (is_of_forward(plain_.calls[i]) ? forward_plain_ : others_plain)
          .push_back(static_cast<CallId>(i));
    std::vector<CallId> waiting;  // Recomputed calls since the last call of another phase.
    for (std::size_t i = 0; i < again_.calls.size(); ++i) {
      const auto call = static_cast<CallId>(i);
      if (again_.calls[i].phase == Phase::recompute && !region_of(call).empty()) {
        runs_[again_.calls[i].node].push_back(call);
        waiting.push_back(call);
      } else if (is_of_forward(again_.calls[i])) {
        forward_again_.push_back(call);
      } else {
        note_return(waiting, others_plain, others_again.size());
        others_again.push_back(call);
      }
    }
    if (forward_plain_.size() != forward_again_.size() ||
        others_plain.size() != others_again.size())
      refuse_difference(plain_);
    for (std::size_t i = 0; i < forward_plain_.size(); ++i)
      if (plain_.ops[static_cast<std::size_t>(plain(forward_plain_[i]).op)] !=
          again_.ops[static_cast<std::size_t>(again(forward_again_[i]).op)])
        refuse_difference(plain_);
  }

  /// The waiting calls' regions were recomputed right before call `next` outside the forward pass.
  void note_return(std::vector<CallId>& waiting, const std::vector<CallId>& others_plain,
                   std::size_t next) {
    if (waiting.empty()) return;
    if (next >= others_plain.size()) refuse_difference(plain_);
    for (const CallId call : waiting) {
      const auto found = index_.find(region_of(call));
      if (found == index_.end()) continue;
      CallId& before = regions_[found->second].recomputed_before;
      before = std::max(before, others_plain[next]);
    }
    waiting.clear();
  }

  std::int64_t bytes_of(const Recording& recording, StorageId storage) const {
    return profile::device_block_bytes(recording.storages[static_cast<std::size_t>(storage)]);
  }

  void add_forward_call(RegionCosts& region, std::size_t at) {
    const CallId call = forward_plain_[at];
    if (region.first_call == none) region.first_call = call;
    region.last_call = call;
    region.policy_us += policy_us_;
    forward_runs_[again(forward_again_[at]).node].push_back(at);
    const CallRecord& made = plain(call);
    const CallRecord& made_again = again(forward_again_[at]);
    for (std::size_t i = 0; i < std::min(made.outputs.size(), made_again.outputs.size()); ++i) {
      const StorageId storage = made.outputs[i].storage, other = made_again.outputs[i].storage;
      if (storage == none || other == none) continue;
      if (plain_.storages[static_cast<std::size_t>(storage)].allocated_by != call) continue;
      const bool is_freed = alive_plain_[static_cast<std::size_t>(storage)] &&
                            !alive_again_[static_cast<std::size_t>(other)];
      const bool is_passed_on = alive_again_[static_cast<std::size_t>(other)];
      if (is_freed) needed_.insert(storage);
      if ((is_freed || is_passed_on) && counted_.insert(storage).second)
        (is_freed ? region.freed_bytes : region.output_bytes) += bytes_of(plain_, storage);
    }
  }

  /// `places` are the forward calls of one run.
  void count_calls(const std::vector<std::size_t>& places) {
    RegionCosts& region = regions_[index_.at(region_of(forward_again_[places.front()]))];
    std::map<std::string, int> counts;
    for (const std::size_t place : places)
      ++counts[again_.ops[static_cast<std::size_t>(again(forward_again_[place]).op)]];
    for (const auto& [op, count] : counts) region.call_numbers[op].insert(count);
  }

  void find_changed_storages() {
    for (const CallId call : forward_again_) {
      const CallRecord& record = again(call);
      if (is_in_place(again_.ops[static_cast<std::size_t>(record.op)]) && !record.inputs.empty() &&
          record.inputs[0].storage != none)
        changed_.insert(record.inputs[0].storage);
    }
  }

  struct KeepableBytes {
    std::int64_t all = 0;
    std::vector<std::int64_t> blocks;
  };

  /// The bytes to keep so that the call is not recomputed; empty where it cannot be kept.
  std::optional<KeepableBytes> keepable_bytes(CallId call) const {
    KeepableBytes bytes;
    std::set<StorageId> seen;
    for (const TensorRecord& output : again(call).outputs) {
      if (output.storage == none || !seen.insert(output.storage).second) continue;
      if (again_.storages[static_cast<std::size_t>(output.storage)].allocated_by != call ||
          changed_.contains(output.storage))
        return std::nullopt;
      if (alive_again_[static_cast<std::size_t>(output.storage)]) continue;
      const std::int64_t of_one = bytes_of(again_, output.storage);
      bytes.all += of_one;
      bytes.blocks.push_back(of_one);
    }
    return seen.empty() ? std::nullopt : std::optional(bytes);
  }

  /// The recomputed calls are the first forward calls of the same node.
  void add_run(NodeId node, const std::vector<CallId>& calls) {
    const auto found = index_.find(region_of(calls.front()));
    const auto forward = forward_runs_.find(node);
    if (found == index_.end() || forward == forward_runs_.end()) return;
    RegionCosts& region = regions_[found->second];
    std::map<std::string, int> counts;
    if (region.cut.empty()) find_cut(region, forward->second);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i >= forward->second.size()) refuse_difference(plain_);
      const CallId first = forward_again_[forward->second[i]];
      const std::string& op = again_.ops[static_cast<std::size_t>(again(first).op)];
      if (again(calls[i]).op != again(first).op) refuse_difference(plain_);
      const double cost = cost_us_[static_cast<std::size_t>(calls[i])];
      region.cost_us += cost;
      region.policy_us += policy_us_;
      add_call(region, {op, counts[op]++}, keepable_bytes(first), cost + policy_us_);
    }
  }

  /// `places` are the forward calls of one run.
  void find_cut(RegionCosts& region, const std::vector<std::size_t>& places) const {
    std::vector<CutCall> calls;
    std::vector<KeptCall> names;
    std::map<std::string, int> counts;
    std::map<StorageId, int> makers;
    for (const std::size_t place : places) {
      const CallRecord& record = again(forward_again_[place]);
      const std::string& op = again_.ops[static_cast<std::size_t>(record.op)];
      const std::optional<KeepableBytes> bytes = keepable_bytes(forward_again_[place]);
      CutCall call{.bytes = bytes ? bytes->all : -1, .is_expensive = is_compute_intensive(op)};
      for (const TensorRecord& input : record.inputs)
        if (const auto maker = makers.find(input.storage); maker != makers.end())
          call.reads.push_back(maker->second);
      for (const TensorRecord& output : record.outputs)
        if (output.storage != none) makers[output.storage] = static_cast<int>(calls.size());
      for (const TensorRecord& output : plain(forward_plain_[place]).outputs)
        call.is_needed |= needed_.contains(output.storage);
      calls.push_back(std::move(call));
      names.push_back({op, counts[op]++});
    }
    for (const int call : minimum_cut(calls))
      region.cut.push_back(names[static_cast<std::size_t>(call)]);
    std::ranges::sort(region.cut);
  }

  /// A module that is called several times keeps the same outputs in each of its runs.
  void add_call(const RegionCosts& region, const KeptCall& call,
                const std::optional<KeepableBytes>& bytes, double cost) {
    auto& found = keepable_[region.module][call];
    found.call = call;
    found.cost_us += cost;
    found.bytes = bytes && found.bytes >= 0 ? found.bytes + bytes->all : -1;
    if (bytes) found.blocks.insert(found.blocks.end(), bytes->blocks.begin(), bytes->blocks.end());
  }

  void sum_up(RegionCosts& region) {
    for (const auto& [key, call] : keepable_[region.module])
      if (call.bytes >= 0 && call.cost_us > 0) region.calls.push_back(call);
  }

  const Recording& plain_;
  const Recording& again_;
  const std::vector<double>& cost_us_;
  double policy_us_;
  std::vector<bool> alive_plain_, alive_again_;  // By storage.
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<RegionCosts> regions_;
  std::vector<CallId> forward_plain_, forward_again_;
  std::map<NodeId, std::vector<CallId>> runs_;               // Recomputed calls.
  std::map<NodeId, std::vector<std::size_t>> forward_runs_;  // Places in forward_again_.
  std::set<StorageId> counted_, changed_, needed_;
  std::map<std::string, std::map<KeptCall, KeepableCall>> keepable_;  // By module.
};

std::vector<Window> windows_of(const std::vector<RegionCosts>& regions,
                               const std::vector<HeldBytes>& held_bytes) {
  std::vector<Window> found(regions.size() + 1);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].regions = i;
  for (std::size_t i = 0; i < held_bytes.size(); ++i) {
    const auto call = static_cast<CallId>(i);
    std::size_t active = 0;
    for (std::size_t j = 0; j < regions.size(); ++j)
      if (regions[j].first_call <= call && call < regions[j].recomputed_before) active = j + 1;
    if (held_bytes[i].all > found[active].bytes) found[active] = {active, held_bytes[i].all, call};
  }
  std::erase_if(found, [](const Window& window) { return window.call == none; });
  return found;
}

}  // namespace

CheckpointRegion RegionCosts::keeping(const std::vector<int>& kept) const {
  CheckpointRegion region{.modules = {module}};
  for (const int call : kept) region.kept.push_back(calls[static_cast<std::size_t>(call)].call);
  return region;
}

bool is_compute_intensive(std::string_view op) {
  static const std::set<std::string_view> operators = {
      "aten::mm",
      "aten::convolution",
      "aten::bmm",
      "aten::addmm",
      "aten::_scaled_dot_product_flash_attention",
      "aten::_scaled_dot_product_efficient_attention",
      "aten::_scaled_dot_product_cudnn_attention",
      "aten::_flash_attention_forward",
      "aten::_efficient_attention_forward",
      "aten::upsample_bilinear2d",
      "aten::_scaled_mm"};
  return operators.contains(op);
}

StepCosts costs_of_step(const Recording& plain, const Recording& again,
                        const std::vector<std::string>& modules,
                        const std::vector<HeldBytes>& held_bytes,
                        const std::vector<double>& cost_us, double policy_us) {
  StepCosts costs{.regions = CostReader(plain, again, modules, cost_us, policy_us).read()};
  costs.windows = windows_of(costs.regions, held_bytes);
  return costs;
}

}  // namespace symprof::plan
