// Which storages count where autograd keeps them for backward.
#pragma once

#include "record/recording.h"

namespace symprof {

/// Parameters and buffers are there anyway, and so are an optimizer's states. A gradient may be
/// kept from forward on, where a fused loss makes it there.
inline bool counts_as_saved(StorageKind kind) {
  return kind == StorageKind::activation || kind == StorageKind::input ||
         kind == StorageKind::gradient;
}

}  // namespace symprof
