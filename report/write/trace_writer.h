// Events of a trace for chrome://tracing and Perfetto. Source of the format: "Trace Event Format",
// the document of chromium's project catapult.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "report/write/json_writer.h"

namespace symprof::report {

/// The position of a slice: a process is a group of rows, a thread one of them.
struct TraceThread {
  std::int64_t process = 0, thread = 0;
};

/// Writes events in order, each on its own line.
class TraceWriter {
 public:
  explicit TraceWriter(JsonWriter& json) : json_(json) {}

  /// Begins an event; `end` follows. `us`: since the step's begin.
  void begin(std::string_view kind, std::string_view name, TraceThread thread, double us) {
    json_.line(2);
    json_.begin_object();
    json_.member("ph", kind);
    json_.member("name", name);
    json_.member("pid", thread.process);
    json_.member("tid", thread.thread);
    time("ts", us);
  }
  void end() { json_.end_object(); }

  /// end_slice() follows; between the two are members of its arguments. Both ends are rounded, not
  /// the duration: Perfetto drops a slice that begins before the one ahead of it has ended.
  void slice(std::string_view name, TraceThread thread, double begin_us, double end_us) {
    begin("X", name, thread, begin_us);
    time("dur", rounded(end_us) - rounded(begin_us));
    json_.key("args");
    json_.begin_object();
  }
  void end_slice() {
    json_.end_object();
    end();
  }

  void counter(std::string_view name, std::string_view series, TraceThread thread, double us,
               double value) {
    begin("C", name, thread, us);
    json_.key("args");
    json_.begin_object();
    json_.member(series, value);
    json_.end_object();
    end();
  }

  /// An end of an arrow, attached to the slice that runs at that time.
  void flow(bool is_start, std::string_view kind, std::int64_t id, TraceThread thread, double us) {
    begin(is_start ? "s" : "f", kind, thread, us);
    json_.member("cat", kind);
    json_.member("id", id);
    if (!is_start) json_.member("bp", "e");
    end();
  }

  /// `what`: "process_name" or "thread_name".
  void title(std::string_view what, TraceThread thread, std::string_view text) {
    begin("M", what, thread, 0);
    json_.key("args");
    json_.begin_object();
    json_.member("name", text);
    json_.end_object();
    end();
  }

  JsonWriter& json() { return json_; }

 private:
  /// To the nanosecond.
  static double rounded(double us) { return std::round(us * 1e3) / 1e3; }
  void time(std::string_view key, double us) { json_.member(key, rounded(us)); }

  JsonWriter& json_;
};

}  // namespace symprof::report
