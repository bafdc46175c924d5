// The rules for the scratch memory of calls, by family; profile/operators/families.h lists them.
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

ScratchRules matmul_scratch();
ScratchRules convolution_scratch();
ScratchRules attention_scratch();
ScratchRules elementwise_scratch();
ScratchRules reduction_scratch();
ScratchRules scan_scratch();
ScratchRules histogram_scratch();
ScratchRules normalization_scratch();
ScratchRules softmax_scratch();
ScratchRules pooling_scratch();
ScratchRules resampling_scratch();
ScratchRules indexing_scratch();
ScratchRules masking_scratch();
ScratchRules embedding_scratch();
ScratchRules sorting_scratch();
ScratchRules searching_scratch();
ScratchRules uniqueness_scratch();
ScratchRules detection_scratch();
ScratchRules copy_scratch();
ScratchRules loss_scratch();
ScratchRules optimizer_scratch();
ScratchRules random_scratch();
ScratchRules rnn_scratch();
ScratchRules linalg_scratch();

}  // namespace symprof::profile
