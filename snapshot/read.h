// Reads a memory snapshot.
#pragma once

#include <string>
#include <string_view>

#include "snapshot/snapshot.h"

namespace symprof::snapshot {

/// Reads a snapshot of PyTorch 2.1 or later: a file of torch.cuda.memory._dump_snapshot, or a
/// pickle of _snapshot(), plain or gzip. Throws Error that gives the byte at which the file is
/// broken, or the part that is not as in a snapshot.
Snapshot read_snapshot(const std::string& path);
/// The same of bytes in memory; `name` is for messages.
Snapshot read_snapshot(std::string_view bytes, const std::string& name);

}  // namespace symprof::snapshot
