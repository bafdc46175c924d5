#include "meta/fake/regions.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include "meta/fake/convert.h"

namespace symprof::meta {

Regions::~Regions() {
  while (!open_.empty()) close();
}

void Regions::open_grad_mode(bool enabled) {
  open_.push_back({.grad_enabled = c10::GradMode::is_enabled()});
  c10::GradMode::set_enabled(c10::GradMode::is_enabled() && enabled);
}

void Regions::open_autocast(bool enabled, std::optional<DType> dtype) {
  open_.push_back({.is_autocast = true,
                   .autocast_enabled = at::autocast::is_autocast_enabled(at::kCUDA),
                   .autocast_dtype = dtype_of(at::autocast::get_autocast_dtype(at::kCUDA))});
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(at::kCUDA, enabled);
  if (dtype) at::autocast::set_autocast_dtype(at::kCUDA, scalar_type(*dtype));
}

void Regions::close() {
  const Saved saved = open_.back();
  open_.pop_back();
  if (!saved.is_autocast) return c10::GradMode::set_enabled(saved.grad_enabled);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, saved.autocast_enabled);
  at::autocast::set_autocast_dtype(at::kCUDA, scalar_type(saved.autocast_dtype));
}

}  // namespace symprof::meta
