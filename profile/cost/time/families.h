// The rules of which kernels a call launches, family by family; profile/operators/families.h lists
// them. A family without rules is not modelled.
#pragma once

#include "profile/cost/time/rules.h"

namespace symprof::profile {

TimeRules matmul_times();
TimeRules convolution_times();
TimeRules attention_times();
TimeRules elementwise_times();
TimeRules activation_times();
TimeRules reduction_times();
TimeRules normalization_times();
TimeRules softmax_times();
TimeRules pooling_times();
TimeRules resampling_times();
TimeRules indexing_times();
TimeRules masking_times();
TimeRules embedding_times();
TimeRules sorting_times();
TimeRules copy_times();
TimeRules view_times();
TimeRules loss_times();
TimeRules optimizer_times();
TimeRules random_times();
TimeRules rnn_times();
TimeRules linalg_times();
TimeRules collective_times();

}  // namespace symprof::profile
