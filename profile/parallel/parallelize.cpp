#include "profile/parallel/parallelize.h"

#include <utility>

#include "profile/parallel/data_parallel.h"
#include "profile/parallel/fully_sharded.h"
#include "profile/parallel/tensor_split_step.h"

namespace symprof::profile {

Recording parallelize(Recording recording, const StepOptions& step) {
  if (!step.parallel) return recording;
  const ParallelOptions& options = *step.parallel;
  if (options.engine == ParallelEngine::tensor)
    return tensor_split_step(std::move(recording), options);
  if (options.engine == ParallelEngine::fsdp)
    return fully_sharded_step(std::move(recording), options, step.device);
  return data_parallel_step(std::move(recording), options);
}

}  // namespace symprof::profile
