#include "session/engine/flops.h"

#include "profile/profile.h"
#include "session/inference_settings.h"
#include "session/session.h"

namespace symprof {
namespace {

/// Empty where a call of the node has no rule.
std::optional<std::int64_t> forward_flops(const NodeProfile& node) {
  if (node.figures.confidence == Confidence::unmodelled) return std::nullopt;
  return node.figures.fwd_product_flops + node.figures.fwd_other_flops;
}

}  // namespace

engine::NodeFlops flops_of_nodes(const std::string& model, const std::vector<std::string>& sizes) {
  Session session(model);
  const Profile profile = session.profile(inference_settings(sizes));
  engine::NodeFlops flops;
  for (const NodeProfile& node : profile.nodes)
    flops[profile.recording.nodes[static_cast<std::size_t>(node.node)].name] = forward_flops(node);
  return flops;
}

}  // namespace symprof
