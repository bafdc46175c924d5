#include "profile/parallel/parallelize.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/setting.h"
#include "profile/parallel/data_parallel.h"
#include "profile/parallel/fully_sharded.h"
#include "profile/parallel/pipeline_step.h"
#include "profile/parallel/rank_recording.h"
#include "profile/parallel/tensor_split_step.h"
#include "profile/parallel/wrapped_groups.h"

namespace symprof::profile {

Recording parallelize(Recording recording, const StepOptions& step) {
  if (!step.parallel) {
    if (has_functional_collectives(recording))
      recording.warnings.push_back("the model has collectives, which are listed with " +
                                   setting("mesh", "8") + " for 8 ranks");
    return recording;
  }
  const ParallelOptions& options = *step.parallel;
  std::vector<CallRange> passes;
  if (options.pipeline.ranks > 1) {
    recording = pipeline_step(std::move(recording), options);
    if (options.data == DataEngine::none) return recording;
    for (const StagePass& pass : recording.rank->passes) passes.push_back({pass.first, pass.last});
  }
  if (options.data == DataEngine::fsdp)
    return fully_sharded_step(std::move(recording), options, step.device, passes);
  if (options.data == DataEngine::ddp) return data_parallel_step(std::move(recording), options);
  if (options.recorded > 1 && !has_functional_collectives(recording))
    throw Error(SettingRef{"mesh"}, recording.path + " has no collectives.",
                "Give an engine that adds them: " + setting("parallel", "tp=8") + ".");
  return tensor_split_step(std::move(recording), options);
}

}  // namespace symprof::profile
