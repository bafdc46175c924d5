#include "shape/eager/compiled_nodes.h"

#include <iterator>
#include <utility>

#include "meta/fake/saved_tensors.h"

namespace symprof::shape {
namespace {

bool is_allocation(const std::string& op) { return op == "aten::empty_strided"; }
bool is_view(const std::string& op) { return op == "aten::as_strided" || op == "aten::detach"; }

}  // namespace

void CompiledNodes::begin_graph(std::int32_t module) {
  module_ = module;
  graphs_[meta::next_sequence_number()] = module;
}

void CompiledNodes::enter_code(bool is_backward) {
  path_ = ".";
  recorder_.say_nodes_in_backward(true);
  if (depth_++ > 0 || !is_backward) return;
  const auto node = meta::current_backward_node();
  const auto after = node ? graphs_.upper_bound(node->sequence_number) : graphs_.begin();
  if (after != graphs_.begin()) module_ = std::prev(after)->second;
}

void CompiledNodes::leave_code() {
  if (allocating_ != none)
    calls_.name(std::exchange(allocating_, none), "aten::empty_strided", module_);
  last_ = none;
  if (--depth_ == 0) recorder_.say_nodes_in_backward(false);
}

void CompiledNodes::at_kernel(const std::string& path) { path_ = path; }

std::int32_t CompiledNodes::module_of_kernel() {
  if (!path_.starts_with('.')) return calls_.module_at(path_, "");
  if (path_ == ".") return module_;
  const std::string& around = recorder_.recording().modules[static_cast<std::size_t>(module_)].path;
  return calls_.module_at(around.empty() ? path_.substr(1) : around + path_, "");
}

NodeId CompiledNodes::node_of_call(const std::string& op) {
  if (is_allocation(op)) {
    if (allocating_ == none) allocating_ = calls_.add_unnamed();
    return allocating_;
  }
  if (is_view(op) && (allocating_ != none || last_ != none))
    return allocating_ != none ? allocating_ : last_;
  last_ = std::exchange(allocating_, none);
  if (last_ == none) last_ = calls_.add_unnamed();
  calls_.name(last_, op, module_of_kernel());
  return last_;
}

void CompiledNodes::restart() {
  graphs_.clear();
  last_ = none;
}

}  // namespace symprof::shape
