#include "report/profile/tried_settings.h"

#include <cstdlib>

#include "base/setting.h"
#include "report/profile/memory_text.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

std::string tried_text(const MeasuredMemory& both) {
  const std::int64_t measured = both.prediction.measured.reserved.bytes;
  const std::int64_t predicted = both.prediction.predicted.reserved.bytes;
  const TriedSettings& best = both.tried.front();
  if (std::abs(best.peak_reserved_bytes - measured) >= std::abs(predicted - measured))
    return fmt::format("no other of {} settings comes nearer to the reserved peak",
                       both.tried.size());
  return fmt::format("{} explains the segments best of {}: {} reserved are predicted with it",
                     setting("alloc_conf", best.alloc_conf), both.tried.size(),
                     format_bytes(best.peak_reserved_bytes));
}

}  // namespace

void write_settings(fmt::memory_buffer& out, const MeasuredMemory& both, const Layout& layout) {
  if (const std::string& conf = both.measured.snapshot.settings.conf; !conf.empty())
    write_line(out, "settings",
               fmt::format("the measured allocator had {}", setting("alloc_conf", conf)), layout);
  if (!both.tried.empty()) write_line(out, "tried", tried_text(both), layout);
}

void write_settings(JsonWriter& json, const MeasuredMemory& both) {
  json.member("alloc_conf", both.measured.snapshot.settings.conf);
  json.key("tried");
  json.begin_array();
  for (const TriedSettings& one : both.tried) {
    json.begin_object();
    json.member("alloc_conf", one.alloc_conf);
    json.member("peak_reserved_bytes", one.peak_reserved_bytes);
    json.end_object();
  }
  json.end_array();
}

}  // namespace symprof::report
