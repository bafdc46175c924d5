// The rules that count FLOPs and bytes, family by family; profile/operators/families.h lists them.
#pragma once

#include "profile/cost/flops/rules.h"

namespace symprof::profile {

Rules matmul_rules();
Rules convolution_rules();
Rules attention_rules();
Rules elementwise_rules();
Rules activation_rules();
Rules reduction_rules();
Rules scan_rules();
Rules histogram_rules();
Rules normalization_rules();
Rules softmax_rules();
Rules pooling_rules();
Rules resampling_rules();
Rules indexing_rules();
Rules masking_rules();
Rules embedding_rules();
Rules sorting_rules();
Rules searching_rules();
Rules uniqueness_rules();
Rules copy_rules();
Rules view_rules();
Rules loss_rules();
Rules optimizer_rules();
Rules random_rules();
Rules rnn_rules();
Rules linalg_rules();
Rules collective_rules();
Rules detection_rules();

}  // namespace symprof::profile
