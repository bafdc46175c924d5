// The savings of each rule of symprof optimize, from profiles of the model before and after it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "session/settings.h"

namespace onnx {
class ModelProto;
}

namespace symprof {

/// Costs of a step as symprof profile counts them; differences may be below 0.
struct RuleCosts {
  std::int64_t fwd_flops = 0, bwd_flops = 0;  ///< Including operators other than products.
  std::int64_t moved_bytes = 0;               ///< Read and written, forward.
  std::int64_t saved_bytes = 0;               ///< For backward.
};

class Savings {
 public:
  Savings(std::string path, Settings settings);

  /// The model as `rule` left it; no name: before all rules.
  void look(const std::string& rule, const onnx::ModelProto& model);

  /// Empty for a rule after which the model could not be profiled, or has calls that nothing
  /// counts: unknown is not 0.
  std::optional<RuleCosts> of(const std::string& rule) const;
  std::optional<RuleCosts> before() const { return before_; }
  std::optional<RuleCosts> after() const { return last_; }
  /// Why a profile failed; empty where none did.
  const std::string& problem() const { return problem_; }

 private:
  std::optional<RuleCosts> profile(const onnx::ModelProto& model);

  std::string path_;
  Settings settings_;
  std::optional<RuleCosts> before_, last_;
  std::map<std::string, std::optional<RuleCosts>> by_rule_;
  std::string problem_;
};

}  // namespace symprof
