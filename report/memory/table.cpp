#include <algorithm>
#include <iterator>

#include "report/memory/memory.h"
#include "report/memory/snapshot_text.h"
#include "report/profile/memory_text.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using snapshot::DeviceAnswer;
using snapshot::History;
using snapshot::Peak;
using snapshot::PoolGrowth;
using snapshot::Share;

std::string percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "0 %"
                    : fmt::format("{:.1f} %",
                                  100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", group_digits(count), count == 1 ? one : many);
}

class MemoryTable {
 public:
  MemoryTable(fmt::memory_buffer& out, const SnapshotAnswer& answer,
              const MemoryRowOptions& options, const Layout& layout)
      : out_(out),
        answer_(answer),
        device_(answer.device),
        history_(answer.device.history),
        options_(options),
        layout_(layout) {}

  void run() {
    const auto& events = events_of(answer_);
    fmt::format_to(fmt::appender(out_), "{}: {} of device {}{}.\n\n", answer_.snapshot.path,
                   counted(static_cast<std::int64_t>(events.size()), "event", "events"),
                   history_.device, duration_text());
    write(out_, holders(), layout_);
    out_.push_back('\n');
    write_peaks();
    write_pools();
    write_kept();
    for (const snapshot::OutOfMemory& oom : device_.out_of_memory) write_out_of_memory(oom);
    write_contradictions();
  }

 private:
  void line(std::string_view label, const std::string& text) {
    write_line(out_, label, text, layout_);
  }

  std::string duration_text() const {
    const auto& events = events_of(answer_);
    if (events.empty()) return ": nothing but what is held at the end is known";
    const auto last = static_cast<snapshot::EventIndex>(events.size() - 1);
    const std::int64_t time = time_since_start_us(answer_, last);
    return time > 0 ? " in " + format_time(static_cast<double>(time)) : "";
  }

  TextTable holders() const {
    const bool by_line = options_.by == MemoryRows::line;
    TextTable table{
        .columns = {{by_line ? "Line, at the peak" : "Module, at the peak", Align::left, 24},
                    {"Bytes", Align::number},
                    {"Blocks", Align::number},
                    {"Share", Align::number}},
        .rows = {}};
    const auto& shares = by_line ? device_.lines_at_peak : device_.modules_at_peak;
    const auto shown = std::min<std::size_t>(shares.size(), static_cast<std::size_t>(options_.top));
    Share rest, all;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (i < shown)
        table.rows.push_back(row(site_text(answer_, shares[i].site, options_.by), shares[i]));
      Share& sum = i < shown ? all : rest;
      sum.bytes += shares[i].bytes, sum.blocks += shares[i].blocks;
    }
    if (rest.blocks > 0)
      table.rows.push_back(row(fmt::format("[{} others]", shares.size() - shown), rest));
    all.bytes += rest.bytes, all.blocks += rest.blocks;
    table.rows.push_back(row("all", all));
    table.rows.back().rule = TextRow::Rule::above;
    return table;
  }
  TextRow row(const std::string& name, const Share& share) const {
    const Quantity bytes = scale_bytes(share.bytes, Precision::decimals);
    return {{{name},
             {bytes.number, bytes.unit},
             {group_digits(share.blocks)},
             {percent(share.bytes, history_.allocated.bytes)}}};
  }

  std::string peak_text(const Peak& peak) const {
    std::string text = format_bytes(peak.bytes) + ", " + moment_text(answer_, peak.event);
    if (const std::string at = line_text(answer_, peak.event); !at.empty()) text += ", at " + at;
    return text;
  }

  void write_peaks() {
    line("allocated", "peak " + peak_text(history_.allocated));
    line("requested", "peak " + peak_text(history_.requested));
    line("reserved", "peak " + peak_text(history_.reserved));
    const auto& pieces = device_.fragmentation;
    line("fragmented", fmt::format("{} of it ({}) not allocated, {}",
                                   format_bytes(pieces.reserved - pieces.allocated),
                                   percent(pieces.reserved - pieces.allocated, pieces.reserved),
                                   moment_text(answer_, pieces.event)));
    write_growth();
    line("start", usage_text(history_.start));
    line("end", usage_text(history_.end));
  }
  static std::string usage_text(const snapshot::Usage& usage) {
    return fmt::format("{} allocated, {} reserved", format_bytes(usage.allocated),
                       format_bytes(usage.reserved));
  }

  /// The requests that reserved new memory although enough was free.
  void write_growth() {
    PoolGrowth sum, first;
    for (const PoolGrowth& growth : device_.fragmentation.growth) {
      sum.bytes += growth.bytes, sum.requests += growth.requests;
      sum.bytes_beside_free += growth.bytes_beside_free;
      sum.requests_beside_free += growth.requests_beside_free;
      if (growth.bytes_beside_free > first.bytes_beside_free) first = growth;
    }
    if (sum.requests == 0) return;
    line("cudaMalloc", fmt::format("{} for {}", format_bytes(sum.bytes),
                                   counted(sum.requests, "allocation", "allocations")));
    if (sum.requests_beside_free == 0) return;
    line("", fmt::format("{} of these while as much was free in other blocks: {}, most of it {} "
                         "at {}",
                         group_digits(sum.requests_beside_free),
                         format_bytes(sum.bytes_beside_free), format_bytes(first.bytes_beside_free),
                         text_of(answer_.sites.line(first.line))));
  }

  void write_pools() {
    std::size_t shown = 0;
    for (const snapshot::PoolUse& pool : device_.pools) {
      if (shown++ == static_cast<std::size_t>(options_.top)) break;
      line(shown == 1 ? "segments" : "",
           fmt::format("{} {}{} in the {} pool of stream {}: {}, {} in use, largest free {}",
                       group_digits(pool.segments), pool.is_expandable ? "expandable " : "",
                       pool.is_small ? "small" : "large", pool_text(pool.pool), pool.stream,
                       format_bytes(pool.bytes), format_bytes(pool.allocated),
                       format_bytes(pool.largest_free)));
    }
  }

  void write_kept() {
    constexpr std::size_t most = 5;
    Share all;
    for (const Share& share : device_.never_freed)
      all.bytes += share.bytes, all.blocks += share.blocks;
    if (all.blocks > 0)
      line("never freed", fmt::format("{} in {}", format_bytes(all.bytes),
                                      counted(all.blocks, "block", "blocks")));
    for (std::size_t i = 0; i < std::min(most, device_.never_freed.size()); ++i) {
      const Share& share = device_.never_freed[i];
      line("", fmt::format("{} in {} at {}", format_bytes(share.bytes), group_digits(share.blocks),
                           text_of(answer_.sites.line(share.site))));
    }
    write_steps();
  }

  void write_steps() {
    const snapshot::Steps& steps = device_.steps;
    if (steps.begins.empty()) return;
    line("steps", fmt::format("{}, allocated {} when the second began and {} when the last did",
                              steps.begins.size(), format_bytes(steps.allocated[1]),
                              format_bytes(steps.allocated.back())));
    for (const snapshot::Leak& leak : steps.leaks) {
      if (&leak - steps.leaks.data() == options_.top) break;
      line(&leak == steps.leaks.data() ? "leaks" : "",
           fmt::format("{} a step in {} steps, {} never freed, at {}",
                       format_bytes(leak.bytes_per_step()), leak.steps,
                       counted(leak.blocks, "block", "blocks"),
                       text_of(answer_.sites.line(leak.line))));
    }
  }

  void write_out_of_memory(const snapshot::OutOfMemory& oom) {
    const std::int64_t free = oom.usage.reserved - oom.usage.active;
    line("out of memory",
         fmt::format("{}: {} requested at {}; allocated {}, reserved {}, free on the device {}",
                     moment_text(answer_, oom.event), format_bytes(oom.requested),
                     text_of(answer_.sites.line(oom.line)), format_bytes(oom.usage.allocated),
                     format_bytes(oom.usage.reserved), format_bytes(oom.device_free)));
    line("", oom.requested <= free + oom.device_free
                 ? fmt::format("{} reserved were free in smaller blocks: expandable_segments:True "
                               "in PYTORCH_ALLOC_CONF would have helped",
                               format_bytes(free))
                 : fmt::format("short by {} even without fragmentation: reduce what is held at "
                               "the lines above",
                               format_bytes(oom.requested - free - oom.device_free)));
  }

  void write_contradictions() {
    if (const std::int64_t count = history_.contradictions.all(); count > 0)
      line("unaccounted", counted(count, "event does", "events do") +
                              " not go together with what is held: figures are estimates");
  }

  fmt::memory_buffer& out_;
  const SnapshotAnswer& answer_;
  const DeviceAnswer& device_;
  const History& history_;
  const MemoryRowOptions& options_;
  const Layout& layout_;
};

}  // namespace

void write_memory(fmt::memory_buffer& out, const SnapshotAnswer& answer,
                  const MemoryRowOptions& options, const Layout& layout) {
  MemoryTable(out, answer, options, layout).run();
}

}  // namespace symprof::report
