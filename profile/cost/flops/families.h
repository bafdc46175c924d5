// The rules, family by family. A new family adds its file, its declaration and its line in the
// list below; a new operator adds a row in its family's file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/cost/flops/rules.h"

namespace symprof::profile {

Rules matmul_rules();
Rules convolution_rules();
Rules attention_rules();
Rules elementwise_rules();
Rules activation_rules();
Rules reduction_rules();
Rules normalization_rules();
Rules softmax_rules();
Rules pooling_rules();
Rules resampling_rules();
Rules indexing_rules();
Rules copy_rules();
Rules view_rules();
Rules loss_rules();
Rules optimizer_rules();
Rules random_rules();
Rules rnn_rules();
Rules linalg_rules();

struct Family {
  std::string_view name;
  Rules (*rules)();
};

inline constexpr Family families[] = {
    {"matmul", matmul_rules},
    {"convolution", convolution_rules},
    {"attention", attention_rules},
    {"elementwise", elementwise_rules},
    {"activation", activation_rules},
    {"reduction", reduction_rules},
    {"normalization", normalization_rules},
    {"softmax", softmax_rules},
    {"pooling", pooling_rules},
    {"resampling", resampling_rules},
    {"indexing", indexing_rules},
    {"copy", copy_rules},
    {"view", view_rules},
    {"loss", loss_rules},
    {"optimizer", optimizer_rules},
    {"random", random_rules},
    {"rnn", rnn_rules},
    {"linalg", linalg_rules},
};

struct OperatorInfo {
  std::string op;
  std::string family;
  Confidence confidence = Confidence::exact;
};

/// Rules by operator name.
class RuleTable {
 public:
  /// Throws Error when two rules have one name.
  explicit RuleTable(std::span<const Family> families);

  /// The rule of `op`; for an in-place "aten::add_" without a row of its own, that of "aten::add".
  /// Null when there is none.
  const Rule* find(std::string_view op) const;
  /// In the order of the families and their rows.
  std::vector<OperatorInfo> operators() const;

 private:
  struct Row {
    Rule rule;
    std::string_view family;
  };
  std::vector<Row> rows_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

/// The table of the families above, built once.
const RuleTable& rule_table();
const Rule* find_rule(std::string_view op);
std::vector<OperatorInfo> known_operators();

}  // namespace symprof::profile
