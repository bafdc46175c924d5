#include "session/onnx/savings.h"

#include "base/error.h"
#include "profile/profile.h"
#include "session/session.h"
#include "trace/load.h"
#include "workbench/model.h"

namespace symprof {

Savings::Savings(std::string path, Settings settings)
    : path_(std::move(path)), settings_(std::move(settings)) {}

std::optional<RuleCosts> Savings::profile(const onnx::ModelProto& model) {
  try {
    Session session(trace::open_onnx(workbench::bytes_of(model, path_), path_));
    const Profile profile = session.profile(settings_);
    if (profile.coverage.unmodelled > 0) {
      problem_ = "some calls have no rule: " + profile.coverage.unmodelled_ops.front();
      return std::nullopt;
    }
    RuleCosts costs{.fwd_flops = profile.totals.fwd_flops_all,
                    .bwd_flops = profile.totals.bwd_flops_all,
                    .saved_bytes = profile.totals.saved_bytes};
    for (const NodeProfile& node : profile.nodes) costs.moved_bytes += node.figures.moved_bytes;
    return costs;
  } catch (const Error& error) {
    problem_ = error.summary();
    return std::nullopt;
  }
}

void Savings::look(const std::string& rule, const onnx::ModelProto& model) {
  const std::optional<RuleCosts> now = profile(model), before = last_;
  last_ = now;
  if (rule.empty()) {
    before_ = now;
    return;
  }
  const auto [sum, is_new] = by_rule_.try_emplace(rule, RuleCosts());
  if (!before || !now) sum->second.reset();
  if (!sum->second) return;
  sum->second->fwd_flops += before->fwd_flops - now->fwd_flops;
  sum->second->bwd_flops += before->bwd_flops - now->bwd_flops;
  sum->second->moved_bytes += before->moved_bytes - now->moved_bytes;
  sum->second->saved_bytes += before->saved_bytes - now->saved_bytes;
}

std::optional<RuleCosts> Savings::of(const std::string& rule) const {
  const auto found = by_rule_.find(rule);
  return found == by_rule_.end() ? std::optional(RuleCosts()) : found->second;
}

}  // namespace symprof
