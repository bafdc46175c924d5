// A way to distribute a training step over the devices of a mesh.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/parallel/mesh.h"
#include "profile/parallel/schedules.h"

namespace symprof::plan {

using profile::Pipeline;
using profile::pipeline_called;
using profile::PipelineRun;
using profile::row_of;
using profile::StageTimes;

/// How ranks with different samples hold parameters, gradients and optimizer states.
enum class DataMode : std::uint8_t {
  copies,  ///< DDP.
  shards,  ///< FSDP2: fully_shard over all ranks.
  hybrid,  ///< HSDP: shards within a node, copies across.
};

/// Ranks are numbered as in a device mesh (pipeline, data, tensor), the last dimension fastest.
struct ParallelLayout {
  int pipeline = 1, data = 1, tensor = 1;
  DataMode mode = DataMode::copies;
  int shard = 1;          ///< Ranks that shard one copy of the parameters; 1 for DDP.
  bool sequence = false;  ///< Sequence parallelism in addition to tensor parallelism.
  int expert = 1;         ///< Ranks that share the experts: all of `data`, or 1.
  bool by_node = false;   ///< Placements inside blocks come from block_placements.h.
  PipelineKind schedule = PipelineKind::one_f_one_b;
  int stages_per_rank = 1;
  int microbatches = 1;  ///< Per step and data rank.
  int checkpointed = 0;  ///< Number of checkpointed blocks, the first ones.

  int devices() const { return pipeline * data * tensor; }
  /// False where backward is split: both halves would recompute a checkpoint, which
  /// torch.distributed._composable.checkpoint rejects.
  bool can_checkpoint() const;
  Pipeline pipeline_schedule() const { return {schedule, pipeline, stages_per_rank, microbatches}; }
};

/// Required properties of a layout; empty members are unconstrained.
struct LayoutFilter {
  std::optional<DataMode> mode;
  std::optional<int> data, shard, tensor, pipeline, microbatches, expert;
  std::optional<int> checkpointed;  ///< Instead of as many as needed to fit.
  std::optional<bool> sequence, by_node;
  std::optional<PipelineKind> schedule;

  bool allows(const ParallelLayout& layout) const;
};

/// Parses the output of text_of, or a part of it: "fsdp=4 tp=2", words separated by blanks or
/// commas. Throws Error that names the word.
LayoutFilter parse_layout(const std::string& text);

/// "fsdp=8 tp=4:sp:nodes pp=2:1f1b:mb=16 ckpt=32", "fsdp=8 ep=8"; "ddp=1" for one device.
std::string text_of(const ParallelLayout& layout);

}  // namespace symprof::plan
