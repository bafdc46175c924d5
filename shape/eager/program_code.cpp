// Compiled functions in a program: their calls, and the run of their code.
#include <ATen/ATen.h>

#include <utility>

#include "meta/fake/fake_tensor.h"
#include "shape/eager/program_nodes.h"
#include "shape/step/node_tensors.h"

namespace symprof::shape {

void ProgramNodes::enter_graph() {
  const bool is_backward = is_in(Scope::backward);
  recomputes_graph_ = is_backward && !makes_graph_ && at::GradMode::is_enabled();
  if (modules_.empty() && !is_backward && !is_in(Scope::optimizer))
    begin_pass(!at::GradMode::is_enabled());
  modules_.push_back(module());
  compiled_.begin_graph(module());
}

void ProgramNodes::leave_graph() {
  if (std::exchange(recomputes_graph_, false)) recorder_.recompute(none);
  leave_module();
}

void ProgramNodes::enter_code() {
  compiled_.enter_code(is_in(Scope::backward) && modules_.empty());
}

void ProgramNodes::leave_code() {
  compiled_.leave_code();
  resume();
}

void ProgramNodes::begin_in_code(const at::RecordFunction& function, const std::string& op) {
  if (is_in(Scope::optimizer)) return;
  const std::vector<at::Tensor> inputs = tensors_of(function.inputs());
  take_over(inputs);
  node_ = compiled_.node_of_call(op);
  recorder_.enter(is_in(Scope::backward) ? Phase::backward : Phase::forward, node_);
  if (recomputes_graph_) recorder_.recompute(node_);
  touches_device_ = true;
  comes_from_host_ = false;
  add_call_inputs(node_, inputs, recorder_);
}

}  // namespace symprof::shape
