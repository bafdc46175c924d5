#include "session/onnx/stats.h"

#include "base/error.h"
#include "session/onnx/models.h"
#include "workbench/optimize/optimize.h"

namespace symprof {
namespace {

/// How often each rule of symprof optimize would be applied to a model that take_stats() left;
/// nothing of one that it refuses.
void add_patterns(StatsAnswer& answer, onnx::ModelProto& model, const std::string& path) try {
  workbench::OptimizeOptions how;
  how.fused = "microsoft";
  how.is_typed = true;
  how.only_counts = true;
  for (const workbench::RuleReport& rule : workbench::optimize(model, how, path).rules)
    if (rule.times > 0) answer.stats.patterns[rule.name] = rule.times;
} catch (const Error& error) {
  answer.warning = "rules are not counted: " + error.summary();
}

}  // namespace

StatsAnswer count_model(const std::string& path, bool with_tensors) {
  check_is_onnx(path, "stats");
  const workbench::Model model = workbench::read_model(path, workbench::Weights::skip);
  StatsAnswer answer{.stats = workbench::take_stats(*model, path)};
  add_patterns(answer, *model, path);
  if (with_tensors)
    answer.stats.tensors =
        workbench::tensor_stats(*workbench::read_model(path, workbench::Weights::keep), path);
  return answer;
}

}  // namespace symprof
