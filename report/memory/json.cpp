#include <algorithm>

#include "report/memory/memory.h"
#include "report/memory/snapshot_text.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using snapshot::DeviceAnswer;
using snapshot::EventIndex;
using snapshot::History;
using snapshot::Peak;
using snapshot::Share;
using snapshot::Usage;

class MemoryJson {
 public:
  MemoryJson(fmt::memory_buffer& out, const SnapshotAnswer& answer)
      : json_(out), answer_(answer), device_(answer.device), history_(answer.device.history) {}

  void run() {
    json_.begin_object();
    json_.line(2), json_.member("schema", "symprof.memory/1");
    json_.line(2), json_.member("snapshot", answer_.snapshot.path);
    json_.line(2), json_.member("device", history_.device);
    json_.line(2), json_.member("events", static_cast<std::int64_t>(events_of(answer_).size()));
    json_.line(2), json_.member("alloc_conf", answer_.snapshot.settings.conf);
    json_.line(2), usage("start", history_.start);
    json_.line(2), usage("end", history_.end);
    json_.line(2), json_.key("peaks");
    json_.begin_object();
    json_.line(4), peak("allocated", history_.allocated);
    json_.line(4), peak("requested", history_.requested);
    json_.line(4), peak("active", history_.active);
    json_.line(4), peak("reserved", history_.reserved);
    json_.closing_line(2), json_.end_object();
    json_.line(2), json_.member("inferred_block_sizes", history_.inferred_sizes);
    contradictions();
    shares("lines_at_peak", device_.lines_at_peak, true);
    shares("modules_at_peak", device_.modules_at_peak, false);
    shares("never_freed", device_.never_freed, true);
    fragmentation();
    pools();
    out_of_memory();
    steps();
    json_.end_document();
  }

 private:
  void usage(const char* name, const Usage& usage) {
    json_.key(name);
    json_.begin_object();
    figures(usage);
    json_.end_object();
  }
  void figures(const Usage& usage) {
    json_.member("allocated_bytes", usage.allocated);
    json_.member("requested_bytes", usage.requested);
    json_.member("active_bytes", usage.active);
    json_.member("reserved_bytes", usage.reserved);
  }

  /// Writes the index of the event, its time since the first event, and its source line.
  void moment(EventIndex event) {
    if (event == snapshot::no_event) {
      json_.null_member("event");
      json_.null_member("time_us");
      return;
    }
    json_.member("event", std::int64_t{event});
    json_.member("time_us", time_since_start_us(answer_, event));
  }

  void peak(const char* name, const Peak& peak) {
    json_.key(name);
    json_.begin_object();
    json_.member("bytes", peak.bytes);
    moment(peak.event);
    json_.member("line", line_text(answer_, peak.event));
    json_.end_object();
  }

  void contradictions() {
    const snapshot::Contradictions& found = history_.contradictions;
    json_.line(2), json_.key("contradictions");
    json_.begin_object();
    json_.member("allocated_twice", found.allocated_twice);
    json_.member("lost", found.lost);
    json_.member("other_size", found.other_size);
    json_.end_object();
  }

  void line(snapshot::LineId id) {
    const snapshot::Line& line = answer_.sites.line(id);
    json_.member("line", text_of(line));
    json_.member("kind", name(line.kind));
    if (line.kind != snapshot::LineKind::source) return;
    json_.member("file", line.file);
    json_.member("line_number", line.number);
    json_.member("function", line.function);
  }

  void shares(const char* name, const std::vector<Share>& shares, bool of_lines) {
    json_.line(2), json_.key(name);
    json_.begin_array();
    for (const Share& share : shares) {
      json_.line(4), json_.begin_object();
      of_lines ? line(share.site) : json_.member("module", answer_.sites.module(share.site));
      json_.member("bytes", share.bytes);
      json_.member("blocks", share.blocks);
      json_.end_object();
    }
    json_.end_array();
  }

  void fragmentation() {
    const snapshot::Fragmentation& found = device_.fragmentation;
    json_.line(2), json_.key("fragmentation");
    json_.begin_object();
    moment(found.event);
    json_.member("reserved_bytes", found.reserved);
    json_.member("allocated_bytes", found.allocated);
    json_.key("growth");
    json_.begin_array();
    for (const snapshot::PoolGrowth& growth : found.growth) {
      json_.line(4), json_.begin_object();
      line(growth.line);
      json_.member("bytes", growth.bytes);
      json_.member("requests", growth.requests);
      json_.member("bytes_beside_free", growth.bytes_beside_free);
      json_.member("requests_beside_free", growth.requests_beside_free);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void pools() {
    json_.line(2), json_.key("pools");
    json_.begin_array();
    for (const snapshot::PoolUse& pool : device_.pools) {
      json_.line(4), json_.begin_object();
      json_.list("pool", std::initializer_list<std::int64_t>{pool.pool.first, pool.pool.second});
      json_.member("stream", pool.stream);
      json_.member("is_small", pool.is_small);
      json_.member("is_expandable", pool.is_expandable);
      json_.member("segments", pool.segments);
      json_.member("bytes", pool.bytes);
      json_.member("active_bytes", pool.allocated);
      json_.member("largest_free_bytes", pool.largest_free);
      json_.end_object();
    }
    json_.end_array();
  }

  void out_of_memory() {
    json_.line(2), json_.key("out_of_memory");
    json_.begin_array();
    for (const snapshot::OutOfMemory& oom : device_.out_of_memory) {
      json_.line(4), json_.begin_object();
      moment(oom.event);
      line(oom.line);
      json_.member("bytes", oom.requested);
      json_.member("device_free_bytes", oom.device_free);
      figures(oom.usage);
      json_.end_object();
    }
    json_.end_array();
  }

  void steps() {
    const snapshot::Steps& steps = device_.steps;
    json_.line(2), json_.key("steps");
    json_.begin_array();
    for (std::size_t i = 0; i < steps.begins.size(); ++i) {
      json_.line(4), json_.begin_object();
      moment(steps.begins[i]);
      json_.member("allocated_bytes", steps.allocated[i]);
      json_.member("peak_allocated_bytes", steps.peaks[i]);
      json_.end_object();
    }
    json_.end_array();
    json_.line(2), json_.key("leaks");
    json_.begin_array();
    for (const snapshot::Leak& leak : steps.leaks) {
      json_.line(4), json_.begin_object();
      line(leak.line);
      json_.member("bytes", leak.bytes);
      json_.member("blocks", leak.blocks);
      json_.member("steps", leak.steps);
      json_.end_object();
    }
    json_.end_array();
  }

  JsonWriter json_;
  const SnapshotAnswer& answer_;
  const DeviceAnswer& device_;
  const History& history_;
};

}  // namespace

void write_memory_json(fmt::memory_buffer& out, const SnapshotAnswer& answer) {
  MemoryJson(out, answer).run();
}

}  // namespace symprof::report
