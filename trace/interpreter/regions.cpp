#include "trace/interpreter/regions.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include "meta/fake/convert.h"
#include "trace/passes/inline_regions.h"

namespace symprof::trace {
namespace {

template <class T>
const T* argument(const Node& node, std::string_view name) {
  for (const Argument& candidate : node.arguments)
    if (candidate.name == name) return std::get_if<T>(&candidate.value);
  return nullptr;
}

}  // namespace

Regions::~Regions() {
  while (!open_.empty()) close();
}

bool Regions::obey(const Node& node) {
  if (node.op == region_grad_mode)
    open_grad_mode(node);
  else if (node.op == region_autocast)
    open_autocast(node);
  else if (node.op == region_end)
    close();
  else
    return false;
  return true;
}

void Regions::open_grad_mode(const Node& node) {
  open_.push_back({.grad_enabled = c10::GradMode::is_enabled()});
  const bool* enabled = argument<bool>(node, "enabled");
  // Inference runs without autograd throughout: a region may only switch it off.
  c10::GradMode::set_enabled(c10::GradMode::is_enabled() && enabled != nullptr && *enabled);
}

void Regions::open_autocast(const Node& node) {
  open_.push_back({.is_autocast = true,
                   .autocast_enabled = at::autocast::is_autocast_enabled(at::kCUDA),
                   .autocast_dtype = meta::dtype_of(at::autocast::get_autocast_dtype(at::kCUDA))});
  const bool* enabled = argument<bool>(node, "enabled");
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(at::kCUDA, enabled != nullptr && *enabled);
  if (const DType* dtype = argument<DType>(node, "dtype"))
    at::autocast::set_autocast_dtype(at::kCUDA, meta::scalar_type(*dtype));
}

void Regions::close() {
  const Saved saved = open_.back();
  open_.pop_back();
  if (!saved.is_autocast) return c10::GradMode::set_enabled(saved.grad_enabled);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, saved.autocast_enabled);
  at::autocast::set_autocast_dtype(at::kCUDA, meta::scalar_type(saved.autocast_dtype));
}

}  // namespace symprof::trace
