// The operator families and their rules. A new family adds its file to the folders of the rules
// that it has, its declaration there, and its line here; a new operator adds a row in its family's
// file. A new kind of rule is a folder beside flops/ and scratch/, a column here and a member of
// Operator.
#pragma once

#include "profile/cost/flops/families.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/time/families.h"
#include "profile/operators/family.h"

namespace symprof::profile {

inline constexpr Family families[] = {
    {"matmul", matmul_rules, matmul_scratch, matmul_times},
    {"convolution", convolution_rules, convolution_scratch, convolution_times},
    {"attention", attention_rules, attention_scratch, attention_times},
    {"elementwise", elementwise_rules, elementwise_scratch, elementwise_times},
    {"activation", activation_rules, nullptr, activation_times},
    {"reduction", reduction_rules, reduction_scratch, reduction_times},
    {"scan", scan_rules, scan_scratch, elementwise_times},
    {"histogram", histogram_rules, histogram_scratch},
    {"normalization", normalization_rules, normalization_scratch, normalization_times},
    {"softmax", softmax_rules, softmax_scratch, softmax_times},
    {"pooling", pooling_rules, pooling_scratch, pooling_times},
    {"resampling", resampling_rules, resampling_scratch, resampling_times},
    {"indexing", indexing_rules, indexing_scratch, indexing_times},
    {"masking", masking_rules, masking_scratch, masking_times},
    {"embedding", embedding_rules, embedding_scratch, embedding_times},
    {"sorting", sorting_rules, sorting_scratch, sorting_times},
    {"searching", searching_rules, searching_scratch},
    {"uniqueness", uniqueness_rules, uniqueness_scratch},
    {"copy", copy_rules, copy_scratch, copy_times},
    {"view", view_rules, nullptr, view_times},
    {"loss", loss_rules, loss_scratch, loss_times},
    {"optimizer", optimizer_rules, optimizer_scratch, optimizer_times},
    {"random", random_rules, random_scratch, random_times},
    {"rnn", rnn_rules, rnn_scratch, rnn_times},
    {"linalg", linalg_rules, linalg_scratch, linalg_times},
    {"collective", collective_rules, nullptr, collective_times},
    {"detection", detection_rules, detection_scratch},
};

}  // namespace symprof::profile
