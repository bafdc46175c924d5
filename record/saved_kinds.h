// The storage kinds that count as saved for backward.
#pragma once

#include "record/recording.h"

namespace symprof {

/// Parameters, buffers and optimizer states exist anyway and do not count. A gradient may be saved
/// from forward on, if a fused loss computes it there.
inline bool counts_as_saved(StorageKind kind) {
  return kind == StorageKind::activation || kind == StorageKind::input ||
         kind == StorageKind::gradient;
}

}  // namespace symprof
