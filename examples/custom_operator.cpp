// An operator of one's own: a shape rule, which is a Meta kernel, and a cost rule.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <exception>
#include <iostream>

#include "profile/own_rules.h"
#include "shape/step/propagate.h"

namespace {

constexpr std::int64_t batch = 4, length = 128, width = 64;

// The shape rule: what comes out, for tensors that have no data.
at::Tensor pool_pairs_shape(const at::Tensor& x) {
  TORCH_CHECK(x.dim() == 3 && x.size(1) % 2 == 0, "pool_pairs takes [N, 2L, C]");
  return at::empty({x.size(0), x.size(1) / 2, x.size(2)}, x.options());
}

// The cost rule: an addition and a multiplication for each element of the result.
symprof::profile::Estimate pool_pairs_cost(const symprof::profile::Call& call) {
  return symprof::profile::Estimate({.other_flops = 2 * call.output(0)->numel(),
                                     .bytes_read = call.input(0)->bytes(),
                                     .bytes_written = call.output(0)->bytes()});
}

constexpr symprof::profile::Rule acme_rows[] = {{"acme::pool_pairs", pool_pairs_cost}};
symprof::profile::Rules acme_rules() { return acme_rows; }

// As a reader would have made it of a file with such a node.
symprof::Graph one_node() {
  symprof::Graph graph;
  graph.path = "custom";
  graph.format = "exported";
  const symprof::TensorSpec spec{
      symprof::DType::float32, {batch, length, width}, {length * width, width, 1}, 0};
  graph.inputs = {graph.add_value({.name = "x", .kind = symprof::ValueKind::input, .spec = spec})};
  graph.outputs = {graph.add_value({.name = "y"})};
  graph.nodes.push_back({.name = "pool",
                         .op = "acme::pool_pairs",
                         .overload = "default",
                         .arguments = {{"", symprof::ValueRef{graph.inputs[0]}}},
                         .outputs = graph.outputs});
  return graph;
}

}  // namespace

TORCH_LIBRARY(acme, library) { library.def("pool_pairs(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(acme, Meta, library) { library.impl("pool_pairs", &pool_pairs_shape); }

int main() {
  try {
    symprof::StepOptions step;
    step.mode = symprof::Mode::inference;
    step.device = symprof::find_device("h200", DEVICES);
    const symprof::profile::Family own[] = {{"acme", acme_rules}};
    const symprof::Profile profile =
        symprof::profile::evaluate(symprof::shape::propagate(one_node(), step), step.device,
                                   symprof::profile::OperatorTable(own));
    std::cout << profile.totals.fwd_flops_all << " FLOPs, " << profile.coverage.unmodelled
              << " calls without a rule\n";
    return profile.totals.fwd_flops_all == 2 * batch * (length / 2) * width ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
