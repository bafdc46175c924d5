#include "session/onnx/optimize.h"

#include <algorithm>

#include "session/onnx/models.h"

namespace symprof {
namespace {

bool differ(const std::vector<workbench::OutputDifference>& differences) {
  return std::ranges::any_of(differences, [](const auto& one) { return !one.is_within; });
}

/// The first rule after which values differ too much: everything once more, with a look after each.
std::string breaking_rule(const OptimizeQuestion& question, const workbench::Verifier& verifier) {
  std::string broken_by;
  workbench::OptimizeOptions rules = question.rules;
  rules.after_rule = [&](const std::string& rule, const onnx::ModelProto& model) {
    if (broken_by.empty() && differ(verifier.compare(model)))
      broken_by = rule.empty() ? "inlining of functions" : rule;
  };
  const workbench::Model again = workbench::read_model(question.model, workbench::Weights::keep);
  workbench::optimize(*again, rules, question.model);
  return broken_by.empty() ? "?" : broken_by;
}

VerifiedValues verified(const OptimizeQuestion& question, const workbench::Verifier& verifier,
                        const onnx::ModelProto& optimized) {
  VerifiedValues values{.inputs = verifier.inputs_text(),
                        .tolerance = verifier.tolerance(),
                        .differences = verifier.compare(optimized)};
  if (!values.are_good()) values.broken_by = breaking_rule(question, verifier);
  return values;
}

}  // namespace

bool VerifiedValues::are_good() const { return !differ(differences); }

OptimizeAnswer optimize_model(const OptimizeQuestion& question) {
  check_is_onnx(question.model, "optimize");
  const workbench::ValueRunner runner =
      question.verifies ? value_runner() : workbench::ValueRunner();
  OptimizeAnswer answer{
      .model = question.model,
      .optimized = workbench::read_model(question.model, workbench::Weights::keep)};
  workbench::OptimizeOptions rules = question.rules;
  std::optional<workbench::Verifier> verifier;
  if (question.verifies) {
    const auto& sizes = question.settings.sizes;
    verifier.emplace(*answer.optimized, question.model, runner,
                     workbench::VerifyOptions{.sizes = {sizes.begin(), sizes.end()},
                                              .tolerance = question.tolerance,
                                              .seed = question.seed});
  }
  if (question.has_savings) {
    answer.savings.emplace(question.model, question.settings);
    rules.after_rule = [&](const std::string& rule, const onnx::ModelProto& now) {
      answer.savings->look(rule, now);
    };
  }
  answer.report = workbench::optimize(*answer.optimized, rules, question.model);
  if (verifier) answer.values = verified(question, *verifier, *answer.optimized);
  return answer;
}

}  // namespace symprof
