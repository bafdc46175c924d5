// Where a program's steps end.
#include <ATen/ATen.h>

#include <algorithm>

#include "meta/fake/fake_tensor.h"
#include "shape/eager/program_nodes.h"

namespace symprof::shape {

// A program without optimizers updates its parameters directly: p.data.add_(p.grad, alpha=-lr).
void ProgramNodes::note_written_parameters(const at::RecordFunction& function,
                                           const std::string& op) {
  if (wrote_parameters_ || !op.ends_with('_') || !modules_.empty()) return;
  if (parts_.has_optimizers() || !parts_.has_passes() || function.inputs().empty()) return;
  const auto& storages = recorder_.recording().storages;
  wrote_parameters_ =
      std::ranges::any_of(tensors_of(function.inputs().slice(0, 1)), [&](const at::Tensor& tensor) {
        const StorageId storage = meta::storage_id(tensor);
        return storage != none &&
               storages[static_cast<std::size_t>(storage)].kind == StorageKind::parameter;
      });
}

void ProgramNodes::end_step_of_written_parameters() {
  if (wrote_parameters_ && scopes_.empty()) end_step(PartEnd::update);
}

void ProgramNodes::end_step(PartEnd end) {
  wrote_parameters_ = false;
  tail_node_ = none;
  if (parts_.is_paused()) return resume();
  parts_.end(end);
  calls_.restart_names();
  compiled_.restart();
  nodes_at_.clear();
  recorder_.forget_claims();
  recorder_.mark_sequence(none);
  resume();
}

}  // namespace symprof::shape
