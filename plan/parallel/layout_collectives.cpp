// The collectives that one rank of a layout issues in a step, as in PyTorch's engines.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/parallel/step_model.h"

namespace symprof::plan {
namespace {

using profile::CollectiveKind;

constexpr double first_bucket_bytes = 1 << 20;  // dist._DEFAULT_FIRST_BUCKET_BYTES
constexpr double later_bucket_bytes = 25 << 20;

class Sums {
 public:
  void add(MeshDimension dimension, CollectiveKind kind, double count, double bytes) {
    if (count <= 0) return;
    const auto found = std::ranges::find_if(sums_, [&](const CollectiveSum& sum) {
      return sum.dimension == dimension && sum.kind == kind;
    });
    CollectiveSum& sum =
        found != sums_.end() ? *found : sums_.emplace_back(CollectiveSum{dimension, kind});
    sum.count += std::llround(count);
    sum.bytes += bytes;
  }

  void add_each(MeshDimension dimension, CollectiveKind kind, double times,
                const std::vector<double>& sizes) {
    const double bytes = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    add(dimension, kind, times * static_cast<double>(sizes.size()), times * bytes);
  }

  std::vector<CollectiveSum> take() { return std::move(sums_); }

 private:
  std::vector<CollectiveSum> sums_;
};

/// Units of a rank, half-open.
struct UnitRange {
  std::size_t first = 0, last = 0;
};

std::vector<UnitRange> ranges_of(const LayoutResult& result, int rank, std::size_t units) {
  const Pipeline pipeline = result.layout.pipeline_schedule();
  if (result.layout.pipeline == 1) return {{0, units}};
  std::vector<UnitRange> ranges;
  for (int stage = 0; stage < pipeline.stages(); ++stage) {
    if (pipeline.rank_of(stage) != rank) continue;
    const auto place = static_cast<std::size_t>(stage);
    ranges.push_back({stage == 0 ? 0 : result.stage_ends[place - 1] + 1,
                      stage + 1 == pipeline.stages() ? units : result.stage_ends[place] + 1});
  }
  return ranges;
}

/// Conversions between all tokens and a rank's share of them: in backward at the input of a stage's
/// first block, in forward at the output of its last block. Stages send all tokens.
void add_ends_of_sequence(Sums& sums, double times, const UnitRange& range, double bytes,
                          std::size_t units) {
  const double ends = range.last > 1 && range.first < units - 1 ? 2 : 0;
  sums.add(MeshDimension::tensor, CollectiveKind::all_gather, times * ends, times * ends * bytes);
}

/// Parameters of a rank's units before sharding, and the number of FSDP groups.
struct Held {
  double of_blocks = 0, of_roots = 0;
  double blocks = 0, roots = 0;

  double bytes() const { return of_blocks + of_roots; }
  void add(const Unit& unit, double own) {
    (unit.name.empty() ? of_roots : of_blocks) += own;
    if (unit.name.empty())
      roots = own > 0 ? 1 : roots;
    else
      ++blocks;
  }
};

void add_tensor_sums(Sums& sums, const UnitCosts& costs, double times) {
  const auto add = [&](CollectiveKind kind, const std::vector<double>& sizes) {
    sums.add_each(MeshDimension::tensor, kind, times, sizes);
  };
  add(CollectiveKind::all_reduce, costs.forward_reduces);
  add(CollectiveKind::all_reduce, costs.backward_reduces);
  add(CollectiveKind::all_gather, costs.forward_gathers);
  add(CollectiveKind::all_gather, costs.forward_scatters);
  add(CollectiveKind::reduce_scatter, costs.forward_scatters);
  add(CollectiveKind::reduce_scatter, costs.forward_gathers);
}

/// `forwards` is the number of forward passes, recomputation included.
void add_exchanges(Sums& sums, const UnitCosts& costs, double times, double forwards) {
  const auto add = [&](double often, const std::vector<double>& sizes) {
    sums.add_each(MeshDimension::expert, CollectiveKind::all_to_all, times * often, sizes);
  };
  add(forwards + 1, costs.row_exchanges);
  add(forwards, costs.count_exchanges);
}

/// Collectives of recomputation, which stops at the last tensor that autograd saved: a block's last
/// row layer and its reduction are not recomputed.
void add_sums_again(Sums& sums, const UnitCosts& costs, double times) {
  const auto add = [&](CollectiveKind kind, std::vector<double> sizes) {
    if (kind != CollectiveKind::all_gather && !sizes.empty()) sizes.pop_back();
    sums.add_each(MeshDimension::tensor, kind, times, sizes);
  };
  add(CollectiveKind::all_reduce, costs.forward_reduces);
  add(CollectiveKind::all_gather, costs.forward_gathers);
  add(CollectiveKind::reduce_scatter, costs.forward_scatters);
}

/// FSDP2 gathers blocks in forward and in backward, and the root group once; a pipeline's stages
/// gather once and keep the parameters.
void add_gathers(Sums& sums, const ParallelLayout& layout, const Held& held) {
  if (layout.shard == 1) return;
  const bool is_chain = layout.pipeline == 1;
  const double often = is_chain ? 2 : 1, times = is_chain ? layout.microbatches : 1;
  sums.add(MeshDimension::shard, CollectiveKind::all_gather,
           times * (often * held.blocks + held.roots),
           times * (often * held.of_blocks + held.of_roots));
}

void add_reductions(Sums& sums, const ParallelLayout& layout, double times, double groups,
                    double gradients) {
  if (layout.shard > 1)
    sums.add(MeshDimension::shard, CollectiveKind::reduce_scatter, times * groups,
             times * gradients);
  if (layout.data == layout.shard) return;
  const double copied = gradients / layout.shard;
  if (layout.shard == 1 && layout.tensor == 1) {
    groups = 1 + std::ceil(std::max(copied - first_bucket_bytes, 0.0) / later_bucket_bytes);
    times = 1;
  }
  sums.add(MeshDimension::data, CollectiveKind::all_reduce, times * groups, times * copied);
}

}  // namespace

double LayoutResult::comm_bytes() const {
  double bytes = 0;
  for (const CollectiveSum& sum : collectives) bytes += sum.bytes;
  return bytes;
}

std::vector<CollectiveSum> StepModel::collectives_of(const LayoutResult& result, int rank) {
  const ParallelLayout& layout = result.layout;
  const std::size_t units = costs_.units().size();
  const UnitShare share = share_of(layout);
  const double times = layout.microbatches;
  const double boundary = costs_.costs(0, share).boundary_bytes;
  Sums sums;
  Held held;
  for (const UnitRange& range : ranges_of(result, rank, units)) {
    for (std::size_t i = range.first; i < range.last; ++i) {
      const bool is_in_block = !costs_.units()[i].name.empty();
      const bool is_again = is_in_block && static_cast<int>(i) <= layout.checkpointed;
      add_tensor_sums(sums, costs_.costs(i, share), times);
      if (is_again) add_sums_again(sums, costs_.costs(i, share), times);
      add_exchanges(sums, costs_.costs(i, share), times, is_again ? 2 : 1);
      held.add(costs_.units()[i], costs_.held_bytes(i, share));
    }
    if (layout.sequence) add_ends_of_sequence(sums, times, range, boundary, units);
    const double hops = 2.0 * ((range.first > 0 ? 1 : 0) + (range.last < units ? 1 : 0));
    sums.add(MeshDimension::pipeline, CollectiveKind::send_receive, times * hops,
             times * hops * boundary);
  }
  if (layout.sequence && layout.data > 1) {
    // Gradients of norms are partial sums, reduced before data parallelism reduces them.
    const auto norms = static_cast<double>(costs_.split(share).tensors.token_modules.size());
    sums.add(MeshDimension::tensor, CollectiveKind::all_reduce,
             times * norms * held.blocks / static_cast<double>(units - 2), 0);
  }
  add_gathers(sums, layout, held);
  const double ratio = costs_.gradient_bytes() / std::max(costs_.parameter_bytes(), 1.0);
  add_reductions(sums, layout, layout.pipeline == 1 ? times : 1, held.blocks + held.roots,
                 held.bytes() * ratio);
  return sums.take();
}

}  // namespace symprof::plan
