// The families of operators, and where each has its rules. A new family adds its file to the
// folders of the rules that it has, its declaration there, and its line here; a new operator adds a
// row in its family's file. A new kind of rule is a folder beside flops/ and scratch/, a column
// here and a member of Operator.
//
// Public header.
#pragma once

#include <string_view>

#include "profile/cost/flops/families.h"
#include "profile/cost/scratch/families.h"

namespace symprof::profile {

/// A column is null where the family has no rules of that kind.
struct Family {
  std::string_view name;
  Rules (*flops)() = nullptr;           ///< FLOPs and bytes read and written.
  ScratchRules (*scratch)() = nullptr;  ///< Memory beside the outputs.
};

inline constexpr Family families[] = {
    {"matmul", matmul_rules, matmul_scratch},
    {"convolution", convolution_rules, convolution_scratch},
    {"attention", attention_rules, attention_scratch},
    {"elementwise", elementwise_rules, elementwise_scratch},
    {"activation", activation_rules},
    {"reduction", reduction_rules, reduction_scratch},
    {"scan", scan_rules, scan_scratch},
    {"histogram", histogram_rules, histogram_scratch},
    {"normalization", normalization_rules, normalization_scratch},
    {"softmax", softmax_rules, softmax_scratch},
    {"pooling", pooling_rules, pooling_scratch},
    {"resampling", resampling_rules, resampling_scratch},
    {"indexing", indexing_rules, indexing_scratch},
    {"masking", masking_rules, masking_scratch},
    {"embedding", embedding_rules, embedding_scratch},
    {"sorting", sorting_rules, sorting_scratch},
    {"searching", searching_rules, searching_scratch},
    {"uniqueness", uniqueness_rules, uniqueness_scratch},
    {"copy", copy_rules, copy_scratch},
    {"view", view_rules},
    {"loss", loss_rules, loss_scratch},
    {"optimizer", optimizer_rules, optimizer_scratch},
    {"random", random_rules, random_scratch},
    {"rnn", rnn_rules, rnn_scratch},
    {"linalg", linalg_rules, linalg_scratch},
};

}  // namespace symprof::profile
