#include <iterator>

#include "report/memory/memory.h"
#include "report/memory/snapshot_text.h"
#include "report/write/csv_field.h"

namespace symprof::report {

void write_memory_csv(fmt::memory_buffer& out, const SnapshotAnswer& answer,
                      const MemoryRowOptions& options) {
  const auto to = fmt::appender(out);
  if (options.by == MemoryRows::module) {
    fmt::format_to(to, "module,bytes,blocks\r\n");
    for (const snapshot::Share& share : answer.device.modules_at_peak)
      fmt::format_to(to, "{},{},{}\r\n", csv_field(answer.sites.module(share.site)), share.bytes,
                     share.blocks);
    return;
  }
  fmt::format_to(to, "kind,file,line,function,bytes,blocks\r\n");
  for (const snapshot::Share& share : answer.device.lines_at_peak) {
    const snapshot::Line& line = answer.sites.line(share.site);
    const bool has_line = line.kind == snapshot::LineKind::source;
    fmt::format_to(to, "{},{},{},{},{},{}\r\n", name(line.kind), csv_field(line.file),
                   has_line ? std::to_string(line.number) : "", csv_field(line.function),
                   share.bytes, share.blocks);
  }
}

}  // namespace symprof::report
