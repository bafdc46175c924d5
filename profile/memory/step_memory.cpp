#include "profile/memory/step_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profile/memory/allocator_requests.h"
#include "profile/memory/between_batches.h"
#include "profile/memory/cache_growth.h"
#include "profile/memory/convolution_benchmarks.h"
#include "profile/memory/cycle.h"
#include "profile/memory/held_blocks.h"
#include "profile/memory/holdings.h"
#include "profile/memory/library_blocks.h"
#include "profile/memory/other_calls.h"
#include "profile/memory/peak_uncertainty.h"
#include "profile/memory/scratch_by_call.h"

namespace symprof::profile {
namespace {

class Loop {
 public:
  Loop(const Recording& recording, const DeviceSpec& device, const StepMemoryOptions& options,
       const LoopWatcher& watcher = {})
      : recording_(recording),
        blocks_(options, watcher.on_block),
        libraries_(blocks_, recording, device, options.loop.allocator),
        requests_(recording, blocks_, libraries_),
        cache_(recording),
        benchmarks_(blocks_, recording, device, options.loop.cudnn_benchmark),
        scratch_(scratch_by_call(recording, device, options.own)),
        storages_(recording.storages.size()),
        owners_(storage_owners(recording, options.program)),
        categories_(storage_categories(recording, options.program)),
        micro_batches_(options.loop.micro_batches),
        keeps_gradients_(options.loop.keep_gradients),
        until_settled_(options.until_settled),
        is_warm_(options.loop.warm_start),
        on_batch_(watcher.on_batch),
        skips_repetitions_(!options.observer && !watcher.on_block && cache_.pairs().empty() &&
                           options.loop.allocator.garbage_collection_threshold == 0) {
    const auto is_of_step = [](const MemoryEvent& event) { return event.call != none; };
    first_of_step_ = static_cast<std::size_t>(std::ranges::find_if(recording.events, is_of_step) -
                                              recording.events.begin());
  }

  /// Replays the events of a program as recorded.
  StepMemory run_program(const ProgramRange& range) {
    range_ = range;
    try {
      take_eventless();
      for (std::size_t i = 0; i < first_of_step_; ++i) apply_of_program(i);
      std::size_t next = first_of_step_;
      for (CallId call = 0; call < range.end_call; ++call) {
        blocks_.begin_call(call);
        if (next >= range.first_event && call >= range.first_call) begin_range();
        take_outputs_and_scratch(recording_.calls[static_cast<std::size_t>(call)], next);
        while (is_of_call(next) && next < range.end_event) apply_of_program(next++);
        if (call >= range.first_call) note_point();
      }
      begin_range();
      requests_.make_before(range.end_event);
    } catch (const HeldBlocks::Refused&) {
      result_.refused_call = blocks_.call();
    }
    return result();
  }

  StepMemory run(std::optional<int> steps) {
    const int most = steps.value_or(cache_.pairs().empty() ? most_steps : 2);
    passes_left_ = std::int64_t{most} * micro_batches_;
    try {
      blocks_.reserve_up_front();
      take_eventless();
      apply_engine_events(/*step=*/-1);
      if (is_warm_) warm_up();
      for (bool is_steady = false; step_ < most && !is_steady; ++step_) {
        const auto before = blocks_.peaks();
        const std::int64_t retries = blocks_.alloc_retries();
        run_step();
        result_.last_step_retries = blocks_.alloc_retries() - retries;
        is_steady = !steps && step_ >= 2 && blocks_.peaks() == before &&
                    (!until_settled_ || result_.last_step_retries == 0);
      }
    } catch (const HeldBlocks::Refused&) {
      result_.refused_call = blocks_.call();
    }
    return result();
  }

  StepMemory run(const StepMemoryOptions& options) {
    return options.program ? run_program(*options.program) : run(options.steps);
  }

  const HeldBlocks& blocks() const { return blocks_; }

 private:
  StepMemory result() {
    blocks_.report(result_);
    result_.micro_batches = micro_batches_, result_.uses_cublas = uses_cublas();
    result_.incomplete_calls = std::ranges::count_if(scratch_, &Scratch::is_incomplete);
    result_.unmodelled_calls = std::ranges::count_if(scratch_, &Scratch::has_no_rule);
    return result_;
  }

  void run_step() {
    result_.timeline.clear();
    noted_bytes_ = 0;
    Cycle<BetweenBatches> cycle;
    const int last = micro_batches_ - 1;
    for (int batch = 0; batch <= last; ++batch) {
      --passes_left_;
      is_last_batch_ = batch == last;
      begin_batch(batch == 0 && !keeps_gradients_ ? Gradients::dropped : Gradients::kept);
      run_calls(batch == 0, batch == last);
      if (!skips_repetitions_ || batch == last) continue;
      if (const std::optional<int> period = cycle.add(between_batches()))
        batch += (last - 1 - batch) / *period * *period;
    }
  }

  BetweenBatches between_batches() const {
    BetweenBatches now{blocks_.segments(), {}, blocks_.alloc_retries()};
    for (const HeldBlock& held : storages_) now.storages.push_back(held.address);
    return now;
  }

  /// The call at which engine events apply. A pipeline has freed the last step's outputs by then.
  std::size_t first_of_forward() const {
    const bool has_passes = step_ > 0 && recording_.rank && !recording_.rank->passes.empty();
    return has_passes ? static_cast<std::size_t>(recording_.rank->passes.front().first) : 0;
  }

  /// Runs the calls of one micro-batch, including the update in the last one of a step.
  void run_calls(bool is_first, bool is_last) {
    std::size_t next = first_of_step_;
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      if (is_first && i == first_of_forward()) apply_engine_events(step_);
      blocks_.begin_call(static_cast<CallId>(i));
      const CallRecord& call = recording_.calls[i];
      if (call.phase == Phase::optimizer && !is_last) break;
      if (call.phase != Phase::forward) blocks_.give_back(old_outputs_);
      if (call.phase == Phase::optimizer && step_ == 0) make_optimizer_state();
      take_outputs_and_scratch(call, next);
      while (is_of_call(next)) apply(recording_.events[next++]);
      if (is_last_of_node(i)) blocks_.give_back(added_gradients_);
      if (is_last) note_point();
    }
    blocks_.give_back(old_outputs_);
  }

  /// True if `call` is the last of its node.
  bool is_last_of_node(std::size_t call) const {
    const std::vector<CallRecord>& calls = recording_.calls;
    return call + 1 == calls.size() || calls[call + 1].node != calls[call].node;
  }

  /// Storages without an allocation event existed before the recording, and persist.
  void take_eventless() {
    has_event_.resize(storages_.size());
    for (const MemoryEvent& event : recording_.events)
      has_event_[static_cast<std::size_t>(event.storage)] = true;
    if (recording_.rank)
      for (const EngineEvent& event : recording_.rank->engine_events)
        has_event_[static_cast<std::size_t>(event.storage)] = true;
    for (std::size_t i = 0; i < storages_.size(); ++i)
      if (!has_event_[i]) take(static_cast<StorageId>(i));
  }

  /// Allocates and frees an engine's blocks between steps.
  void apply_engine_events(int step) {
    if (!recording_.rank) return;
    for (const EngineEvent& event : recording_.rank->engine_events)
      if (event.step == step)
        apply({event.storage, none, event.is_taken ? EventKind::allocate : EventKind::free});
  }

  enum class Gradients { dropped, kept };

  /// Dropped gradients are freed first (zero_grad), the last batch once the next is allocated, the
  /// last outputs when the forward pass has made new ones. The first step allocates the model.
  void begin_batch(Gradients gradients) {
    if (on_batch_) on_batch_();
    blocks_.begin_call(none);
    std::vector<HeldBlock> old_inputs;
    for (std::size_t i = 0; i < storages_.size(); ++i) {
      const StorageKind kind = recording_.storages[i].kind;
      if (!storages_[i].address || !has_event_[i]) continue;
      if (kind == StorageKind::gradient && gradients == Gradients::dropped)
        blocks_.give_back(storages_[i]);
      else if (kind == StorageKind::input)
        old_inputs.push_back(std::exchange(storages_[i], {}));
      else if (kind == StorageKind::activation)
        old_outputs_.push_back(std::exchange(storages_[i], {}));
    }
    for (const auto& [before, after] : cache_.pairs())
      if (HeldBlock& grown = storages_[static_cast<std::size_t>(after)]; grown.address)
        storages_[static_cast<std::size_t>(before)] = std::exchange(grown, {});
    apply_first([](StorageKind kind) { return kind != StorageKind::optimizer_state; });
    blocks_.give_back(old_inputs);
  }

  void note_point() {
    const std::int64_t held = blocks_.now().total(), highest = blocks_.highest_bytes();
    if (held != noted_bytes_ || highest > held)
      result_.timeline.push_back({blocks_.call(), blocks_.now(), highest});
    noted_bytes_ = held;
  }

  // torch.optim allocates the states of all parameters at the start of the first update.
  void make_optimizer_state() {
    apply_first([](StorageKind kind) { return kind == StorageKind::optimizer_state; });
  }

  /// Applies the events before the step's first call, for some kinds of storage.
  void apply_first(bool (*is_meant)(StorageKind)) {
    for (const MemoryEvent& event : std::span(recording_.events).first(first_of_step_))
      if (is_meant(recording_.storages[static_cast<std::size_t>(event.storage)].kind)) apply(event);
  }

  /// Allocates the model first.
  void warm_up() {
    apply_first([](StorageKind kind) {
      return kind == StorageKind::parameter || kind == StorageKind::buffer;
    });
    make_optimizer_state();
    if (uses_cublas()) libraries_.make_workspaces();
  }

  bool uses_cublas() const { return std::ranges::any_of(scratch_, &Scratch::uses_cublas); }

  bool is_updating() const {
    return blocks_.call() != none &&
           recording_.calls[static_cast<std::size_t>(blocks_.call())].phase == Phase::optimizer;
  }

  bool is_of_call(std::size_t event) const {
    return event < recording_.events.size() && recording_.events[event].call <= blocks_.call();
  }

  /// Applies an event, after the program's own allocator calls before it.
  void apply_of_program(std::size_t event) {
    if (event >= range_.first_event && blocks_.call() + 1 >= range_.first_call) begin_range();
    requests_.make_before(event);
    apply(recording_.events[event]);
  }

  void begin_range() {
    if (std::exchange(is_in_range_, true)) return;
    requests_.make_until(range_.first_request);
    blocks_.reset_peaks();
  }

  bool happens(const MemoryEvent& event) const {
    switch (event.batch) {
      case EventBatch::each:
        return true;
      case EventBatch::but_last:
        return !is_last_batch_;
      case EventBatch::last:
        return is_last_batch_;
      case EventBatch::last_of_several:
        return is_last_batch_ && micro_batches_ > 1;
      case EventBatch::only:
        return micro_batches_ == 1;
    }
    return true;
  }

  void apply(const MemoryEvent& event) {
    if (!happens(event)) return;
    if (event.kind == EventKind::allocate) return take(event.storage);
    blocks_.give_back(storages_[static_cast<std::size_t>(event.storage)]);
  }

  /// Storages still held from the previous step are not allocated again. A gradient that is added
  /// to an earlier one lives until the calls of its node are done (accumulate_grad.h). Gradients of
  /// master weights are copied into existing ones.
  void take(StorageId storage) {
    const auto i = static_cast<std::size_t>(storage);
    const StorageRecord& record = recording_.storages[i];
    const std::int64_t bytes = cache_.bytes(storage, passes_left_);
    if (!record.on_device || bytes == 0) return;
    if (!storages_[i].address)
      storages_[i] = blocks_.request(bytes, categories_[i], owners_[i], record.stream);
    else if (record.kind == StorageKind::gradient && !is_updating())
      added_gradients_.push_back(
          blocks_.request(record.bytes, MemoryCategory::temporaries, owners_[i]));
  }

  /// `next`: the call's first event; advanced to the first that is not one of its outputs.
  void take_outputs_and_scratch(const CallRecord& call, std::size_t& next) {
    const Scratch& needed = scratch_[static_cast<std::size_t>(blocks_.call())];
    std::vector<HeldBlock> blocks;
    requests_.make_before(next);
    libraries_.begin_call(call, needed);
    take_blocks(needed, needed.before_outputs, blocks, call);
    benchmarks_.begin_call(call);
    std::optional<StorageId> last;
    for (; is_of_call(next) && recording_.events[next].kind == EventKind::allocate; ++next) {
      if (!happens(recording_.events[next])) continue;
      const StorageId storage = recording_.events[next].storage;
      if (needed.last_output && call.outputs.at(*needed.last_output).storage == storage) {
        last = storage;
        continue;
      }
      take(storage);
      benchmarks_.try_plans(call, storage);
    }
    take_blocks(needed, needed.blocks.size(), blocks, call);
    if (last) take(*last);
    libraries_.end_call(call, needed);
    blocks_.give_back(blocks);
  }

  /// Takes blocks of `needed` until `blocks` has `count`, and frees the early ones.
  void take_blocks(const Scratch& needed, std::size_t count, std::vector<HeldBlock>& blocks,
                   const CallRecord& call) {
    const auto give_back_early = [&] {
      for (const auto& [block, before, after_outputs] : needed.early)
        if (before == blocks.size() && !(after_outputs && count == needed.before_outputs))
          blocks_.give_back(blocks[block]);
    };
    for (give_back_early(); blocks.size() < count; give_back_early()) {
      const std::int64_t bytes = needed.blocks[blocks.size()];
      blocks.push_back(
          bytes > 0 ? blocks_.request(bytes, MemoryCategory::temporaries, call.node, call.stream)
                    : HeldBlock{});
    }
  }

  const Recording& recording_;
  HeldBlocks blocks_;
  LibraryBlocks libraries_;
  AllocatorRequests requests_;
  CacheGrowth cache_;
  ConvolutionBenchmarks benchmarks_;
  std::vector<Scratch> scratch_;  // By call.
  std::vector<HeldBlock> storages_;
  std::vector<NodeId> owners_;              // By storage.
  std::vector<MemoryCategory> categories_;  // By storage.
  std::vector<bool> has_event_;             // By storage.
  std::vector<HeldBlock> old_outputs_;
  std::vector<HeldBlock> added_gradients_;  // Of the current node.
  std::size_t first_of_step_ = 0;
  ProgramRange range_;
  bool is_in_range_ = false;
  int micro_batches_ = 1, step_ = 0;
  bool keeps_gradients_ = false, is_last_batch_ = true, until_settled_ = false, is_warm_ = false;
  std::function<void()> on_batch_;
  /// Repetitions raise no peak, so they are skipped; not in traces, which have every event, nor
  /// when the key-value cache grows, nor with garbage collection, which depends on the age of
  /// cached blocks.
  bool skips_repetitions_ = false;
  std::int64_t passes_left_ = 0, noted_bytes_ = 0;
  StepMemory result_;
};

}  // namespace

StepMemory simulate_step_memory(const Recording& recording, const DeviceSpec& device,
                                const StepMemoryOptions& options) {
  StepMemory memory = Loop(recording, device, options).run(options);
  if (options.program) return memory;
  memory.uncertainty = peak_uncertainty(recording);
  memory.other_calls = other_calls(recording);
  return memory;
}

MemoryTrace trace_step_memory(const Recording& recording, const DeviceSpec& device,
                              StepMemoryOptions options) {
  MemoryTrace trace;
  const Loop* running = nullptr;
  options.observer = [&](const AllocatorEvent& event, CallId call) {
    const HeldBlock& block = running->blocks().concerned();
    trace.entries.push_back({event, call, block.owner, block.category});
  };
  Loop loop(recording, device, options);
  running = &loop;
  loop.run(options);
  trace.segments = loop.blocks().segments();
  return trace;
}

void watch_step_memory(const Recording& recording, const DeviceSpec& device,
                       const StepMemoryOptions& options, const LoopWatcher& watcher) {
  Loop(recording, device, options, watcher).run(options);
}

}  // namespace symprof::profile
