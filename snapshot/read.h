// Reads a memory snapshot.
//
// Public header.
#pragma once

#include <string>
#include <string_view>

#include "snapshot/snapshot.h"

namespace symprof::snapshot {

/// A file of torch.cuda.memory._dump_snapshot, or the pickle of _snapshot(), plain or gzip, of
/// PyTorch 2.1 and later. Throws Error that says at which byte the file is broken, or which part is
/// not that of a snapshot.
Snapshot read_snapshot(const std::string& path);
/// The same of bytes in memory; `name` is for messages.
Snapshot read_snapshot(std::string_view bytes, const std::string& name);

}  // namespace symprof::snapshot
