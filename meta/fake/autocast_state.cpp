#include "meta/fake/autocast_state.h"

namespace symprof::meta {

AutocastState AutocastState::now() {
  AutocastState state;
  for (std::size_t i = 0; i < devices.size(); ++i)
    state.entries_[i] = {at::autocast::is_autocast_enabled(devices[i]),
                         at::autocast::get_autocast_dtype(devices[i])};
  state.cache_ = at::autocast::is_autocast_cache_enabled();
  return state;
}

AutocastState AutocastState::with_cuda(at::ScalarType dtype) const {
  AutocastState state = *this;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i] == at::kCUDA) state.entries_[i] = {true, dtype};
  return state;
}

void AutocastState::restore() const {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    at::autocast::set_autocast_enabled(devices[i], entries_[i].enabled);
    at::autocast::set_autocast_dtype(devices[i], entries_[i].dtype);
  }
  at::autocast::set_autocast_cache_enabled(cache_);
}

AutocastRegion::AutocastRegion(const AutocastState& state) : before_(AutocastState::now()) {
  state.restore();
  at::autocast::increment_nesting();
}

AutocastRegion::~AutocastRegion() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  before_.restore();
}

}  // namespace symprof::meta
