#include "profile/parallel/data_parallel.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "profile/parallel/expert_parameters.h"
#include "profile/parallel/pipeline_step.h"
#include "profile/parallel/rank_recording.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
/// dist._DEFAULT_FIRST_BUCKET_BYTES and bucket_cap_mb.
constexpr std::int64_t first_bucket_bytes = mebibyte, bucket_bytes = 25 * mebibyte;
/// DistributedDataParallel.broadcast_bucket_size.
constexpr std::int64_t broadcast_bytes = 250 * mebibyte;

struct Parameter {
  StorageId storage = none, gradient = none;
  std::int64_t bytes = 0;
  DType dtype = DType::float32;
  NodeId node = none;
  CallId ready = none;    ///< The call after which its gradient is complete.
  std::size_t place = 0;  ///< Its position in the order of gradients.
};

struct Bucket {
  std::vector<const Parameter*> parameters;
  std::int64_t bytes = 0;
  std::size_t last_place = 0;  ///< The last place of its parameters.
  StorageId storage = none;
};

/// `compute_bucket_assignment_by_size`: a bucket of one dtype closes once it reaches its limit;
/// each dtype has its own sequence of limits.
std::vector<Bucket> buckets_of(const std::vector<const Parameter*>& parameters,
                               const std::vector<std::int64_t>& limits) {
  std::vector<Bucket> closed;
  std::map<DType, std::pair<Bucket, std::size_t>> open;
  for (const Parameter* parameter : parameters) {
    auto& [bucket, limit] = open[parameter->dtype];
    bucket.parameters.push_back(parameter);
    bucket.bytes += parameter->bytes;
    bucket.last_place = std::max(bucket.last_place, parameter->place);
    if (bucket.bytes < limits[limit]) continue;
    closed.push_back(std::exchange(bucket, {}));
    limit = std::min(limit + 1, limits.size() - 1);
  }
  for (auto& [dtype, entry] : open)
    if (!entry.first.parameters.empty()) closed.push_back(std::move(entry.first));
  return closed;
}

class DataParallel {
 public:
  DataParallel(Recording recording, const ParallelOptions& options)
      : options_(options), rank_(std::move(recording), functional_group(options)) {
    find_parameters();
    find_ready_calls();
  }

  Recording run() {
    std::vector<const Parameter*> all, reduced;
    for (const Parameter& parameter : parameters_) {
      all.push_back(&parameter);
      if (parameter.ready != none) reduced.push_back(&parameter);
    }
    keep_model_before_engine();
    broadcast_model(all);
    make_buckets(reduced);
    rank_.copy_beginning();
    const auto calls = static_cast<CallId>(rank_.source().calls.size());
    while (rank_.next() < calls) {
      const CallId call = rank_.next();
      rank_.copy_call();
      for (const Parameter* parameter : by_readiness_)
        if (parameter->ready == call) after_gradient(*parameter);
    }
    return rank_.finish(held_as_recorded(rank_.source()));
  }

 private:
  void find_parameters() {
    const Recording& source = rank_.source();
    std::map<StorageId, std::size_t> known;
    const std::set<StorageId> experts = expert_parameters(source);
    for (std::size_t i = 0; i < source.storages.size(); ++i) {
      const StorageRecord& record = source.storages[i];
      const auto id = static_cast<StorageId>(i);
      if (experts.contains(id)) continue;
      if (record.kind == StorageKind::parameter) {
        known[id] = parameters_.size();
        parameters_.push_back({.storage = id, .bytes = record.bytes});
      } else if (record.kind == StorageKind::gradient && known.contains(record.parameter)) {
        parameters_[known[record.parameter]].gradient = id;
      }
    }
    for (std::size_t i = 0; i < source.nodes.size(); ++i)
      for (const TensorRecord& input : source.nodes[i].inputs) {
        const auto found = known.find(input.storage);
        if (found == known.end() || parameters_[found->second].node != none) continue;
        Parameter& parameter = parameters_[found->second];
        parameter.node = static_cast<NodeId>(i);
        if (input.spec != none)
          parameter.dtype = source.specs[static_cast<std::size_t>(input.spec)].dtype;
      }
  }

  /// AccumulateGrad runs before all other ready nodes, so a gradient is complete after the last
  /// backward call that has it as an output (in a pipeline, of the last microbatch). It is divided
  /// after its reduction.
  void find_ready_calls() {
    const Recording& source = rank_.source();
    std::map<StorageId, Parameter*> of_gradient;
    for (Parameter& parameter : parameters_)
      if (parameter.gradient != none) of_gradient[parameter.gradient] = &parameter;
    for (std::size_t i = 0; i < source.calls.size(); ++i) {
      const CallRecord& call = source.calls[i];
      const bool is_divided =
          source.rank && source.ops[static_cast<std::size_t>(call.op)] == scales_gradients;
      if (!is_in_backward(call.phase) || is_divided) continue;
      for (const TensorRecord& output : source.calls[i].outputs)
        if (const auto found = of_gradient.find(output.storage); found != of_gradient.end())
          found->second->ready = static_cast<CallId>(i);
    }
    std::vector<Parameter*> ready;
    for (Parameter& parameter : parameters_)
      if (parameter.ready != none) ready.push_back(&parameter);
    std::ranges::stable_sort(ready, {}, &Parameter::ready);
    for (std::size_t i = 0; i < ready.size(); ++i) ready[i]->place = i;
    by_readiness_.assign(ready.begin(), ready.end());
  }

  /// The model is allocated before the blocks of DistributedDataParallel's constructor.
  void keep_model_before_engine() {
    rank_.leave_out([this](const MemoryEvent& event) {
      const StorageKind kind =
          rank_.source().storages[static_cast<std::size_t>(event.storage)].kind;
      const bool is_model = kind == StorageKind::parameter || kind == StorageKind::buffer;
      return is_model && event.call == none && event.kind == EventKind::allocate;
    });
  }

  StorageId add_block(std::int64_t bytes) {
    return rank_.add_storage(bytes, StorageKind::communication, CommStream::compute, none);
  }

  void note(StorageId storage, bool is_taken, int step) {
    rank_.engine_events().push_back({storage, is_taken, step});
  }

  /// `broadcast_coalesced`: flattened copies of several parameters, two in flight; a single one is
  /// sent without a copy.
  void broadcast_model(const std::vector<const Parameter*>& parameters) {
    std::deque<StorageId> in_flight;
    const auto finish = [&] {
      if (in_flight.front() != none) note(in_flight.front(), false, -1);
      in_flight.pop_front();
    };
    for (const Bucket& bucket : buckets_of(parameters, {broadcast_bytes})) {
      if (in_flight.size() >= 2) finish();
      in_flight.push_back(bucket.parameters.size() > 1 ? add_block(bucket.bytes) : none);
      if (in_flight.back() != none) note(in_flight.back(), true, -1);
    }
    while (!in_flight.empty()) finish();
  }

  /// One bucket holds all gradients in the first step; before the second forward pass, buckets are
  /// rebuilt in the order observed in backward.
  void make_buckets(const std::vector<const Parameter*>& reduced) {
    std::vector<StorageId> first;
    for (const Bucket& bucket : buckets_of(reduced, {std::numeric_limits<std::int64_t>::max()})) {
      first.push_back(add_block(bucket.bytes));
      note(first.back(), true, -1);
    }
    for (const StorageId storage : first) note(storage, false, 1);
    const std::int64_t cap = options_.bucket_cap_bytes.value_or(bucket_bytes);
    buckets_ =
        buckets_of(by_readiness_, {options_.bucket_cap_bytes ? cap : first_bucket_bytes, cap});
    for (Bucket& bucket : buckets_) {
      bucket.storage = add_block(bucket.bytes);
      note(bucket.storage, true, 1);
    }
  }

  /// With gradient_as_bucket_view the gradient is copied into its bucket and freed. A bucket is
  /// reduced once it and all earlier buckets are full.
  void after_gradient(const Parameter& parameter) {
    if (options_.gradient_as_bucket_view) drop(parameter);
    for (; next_bucket_ < buckets_.size(); ++next_bucket_) {
      const Bucket& bucket = buckets_[next_bucket_];
      if (bucket.last_place > parameter.place) return;
      rank_.add_collective("c10d::allreduce_", {.op = CollectiveOperator::all_reduce,
                                                .dimension = MeshDimension::data,
                                                .group_size = options_.replicas,
                                                .input_bytes = bucket.bytes,
                                                .output_bytes = bucket.bytes,
                                                .node = parameter.node,
                                                .stream = CommStream::ddp});
    }
  }

  /// Under no_sync, in all micro-batches except the last, the gradient stays in place.
  void drop(const Parameter& parameter) {
    rank_.enter(EventBatch::last);
    rank_.give_back(parameter.gradient);
    rank_.enter(EventBatch::each);
  }

  const ParallelOptions& options_;
  RankRecording rank_;
  std::vector<Parameter> parameters_;
  std::vector<const Parameter*> by_readiness_;
  std::vector<Bucket> buckets_;
  std::size_t next_bucket_ = 0;
};

}  // namespace

Recording data_parallel_step(Recording recording, const ParallelOptions& options) {
  return DataParallel(std::move(recording), options).run();
}

}  // namespace symprof::profile
