// One way to spread a training step over the devices of a mesh.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/parallel/schedules.h"

namespace symprof::plan {

using profile::Pipeline;
using profile::pipeline_called;
using profile::PipelineRun;
using profile::row_of;
using profile::StageTimes;

struct Mesh {
  int nodes = 1, devices_per_node = 1;
  int devices() const { return nodes * devices_per_node; }
};

/// What the ranks that see different samples do with parameters, gradients and states.
enum class DataMode : std::uint8_t {
  copies,  ///< DDP.
  shards,  ///< FSDP2: fully_shard over all of them.
  hybrid,  ///< HSDP: shards within a node, copies across.
};

/// Ranks lie as in a device mesh (pipeline, data, tensor), the last one fastest.
struct ParallelLayout {
  int pipeline = 1, data = 1, tensor = 1;
  DataMode mode = DataMode::copies;
  int shard = 1;          ///< Ranks that hold one copy of the parameters; 1 for DDP.
  bool sequence = false;  ///< Sequence parallelism beside tensor parallelism.
  int expert = 1;         ///< Ranks that have a part of the experts each: all of `data`, or 1.
  bool by_node = false;   ///< Placements inside blocks as block_placements.h found them.
  PipelineKind schedule = PipelineKind::one_f_one_b;
  int stages_per_rank = 1;
  int microbatches = 1;  ///< Of a step, on each data rank.
  int checkpointed = 0;  ///< Blocks that run again in backward, the first ones.

  int devices() const { return pipeline * data * tensor; }
  /// A backward in two halves would begin what a checkpoint runs again twice, which
  /// torch.distributed._composable.checkpoint refuses.
  bool can_checkpoint() const;
  Pipeline pipeline_schedule() const { return {schedule, pipeline, stages_per_rank, microbatches}; }
};

/// What a layout has to have; empty members are open.
struct LayoutFilter {
  std::optional<DataMode> mode;
  std::optional<int> data, shard, tensor, pipeline, microbatches, expert;
  std::optional<int> checkpointed;  ///< In place of as many as fitting needs.
  std::optional<bool> sequence, by_node;
  std::optional<PipelineKind> schedule;

  bool allows(const ParallelLayout& layout) const;
};

/// Reads what text_of writes, or a part of it: "fsdp=4 tp=2", with blanks or commas between words.
/// Throws Error that names the word.
LayoutFilter parse_layout(const std::string& text);

/// "fsdp=8 tp=4:sp:nodes pp=2:1f1b:mb=16 ckpt=32", "fsdp=8 ep=8"; "ddp=1" for one device.
std::string text_of(const ParallelLayout& layout);

}  // namespace symprof::plan
