#include "report/memory/html.h"

#include <algorithm>
#include <unordered_map>

#include "report/memory/changes.h"
#include "report/memory/page_script.h"
#include "report/memory/snapshot_text.h"
#include "report/profile/timeline_svg.h"
#include "report/write/format_number.h"
#include "report/write/html_head.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using snapshot::History;
using snapshot::Share;

constexpr std::size_t most_owners = 11;

void write_fact(fmt::memory_buffer& out, const char* name, const std::string& value,
                const std::string& where) {
  fmt::format_to(fmt::appender(out),
                 "<div><span class=\"faint\">{}</span><b>{}</b><span class=\"faint\">{}</span>"
                 "</div>\n",
                 name, value, escaped(where));
}

void write_facts(fmt::memory_buffer& out, const SnapshotAnswer& answer) {
  const History& history = answer.device.history;
  const snapshot::Fragmentation& pieces = answer.device.fragmentation;
  out.append(std::string_view("<div class=\"facts\">\n"));
  write_fact(out, "peak allocated", format_bytes(history.allocated.bytes),
             moment_text(answer, history.allocated.event));
  write_fact(out, "peak reserved", format_bytes(history.reserved.bytes),
             moment_text(answer, history.reserved.event));
  write_fact(out, "fragmented", format_bytes(pieces.reserved - pieces.allocated),
             "not allocated at the reserved peak");
  write_fact(out, "before the recording", format_bytes(history.start.allocated),
             "allocated when it began");
  write_fact(out, "at the end", format_bytes(history.end.allocated), "allocated");
  if (!answer.device.steps.begins.empty())
    write_fact(out, "steps", std::to_string(answer.device.steps.begins.size()),
               answer.device.steps.leaks.empty() ? "nothing leaks" : "memory leaks, see below");
  out.append(std::string_view("</div>\n"));
}

/// The owners in the drawing, each with its bytes at the peak.
using Owners = std::vector<Share>;

/// The owners with the most bytes at the peak or at the end, and one row for all others.
Owners owners_of(const SnapshotAnswer& answer, MemoryRows by) {
  const History& history = answer.device.history;
  const bool by_line = by == MemoryRows::line;
  Owners owners = by_line ? answer.device.lines_at_peak : answer.device.modules_at_peak;
  const auto last = static_cast<snapshot::EventIndex>(history.request_of_event.size()) - 1;
  std::unordered_map<std::uint32_t, std::int64_t> most;
  for (const Share& share : owners) most[share.site] = share.bytes;
  for (const Share& share :
       by_line ? lines_at(history, answer.sites, last) : modules_at(history, answer.sites, last)) {
    const auto [at, is_new] = most.try_emplace(share.site, 0);
    at->second = std::max(at->second, share.bytes);
    if (is_new) owners.push_back({.site = share.site});
  }
  std::ranges::stable_sort(owners, std::ranges::greater(),
                           [&](const Share& share) { return most[share.site]; });
  Share others;
  while (owners.size() > most_owners) {
    others.bytes += owners.back().bytes, others.blocks += owners.back().blocks;
    owners.pop_back();
  }
  owners.push_back(others);
  return owners;
}

void write_owners(fmt::memory_buffer& out, const MemoryChanges& changes, const Owners& owners,
                  std::int64_t peak, const char* title) {
  fmt::format_to(fmt::appender(out),
                 "<table><tr><th>{}</th><th>under the pointer</th><th>at the peak</th>"
                 "<th>share</th><th>blocks</th></tr>\n",
                 title);
  for (std::size_t i = 0; i < owners.size(); ++i)
    fmt::format_to(
        fmt::appender(out),
        "<tr><td title=\"{0}\"><i></i>{0}</td><td id=\"now{1}\"></td><td>{2}</td><td>{3:.1f} %</td>"
        "<td>{4}</td></tr>\n",
        escaped(changes.owners[i]), i, format_bytes(owners[i].bytes),
        peak == 0 ? 0 : 100.0 * static_cast<double>(owners[i].bytes) / static_cast<double>(peak),
        group_digits(owners[i].blocks));
  out.append(std::string_view("</table>\n"));
}

template <class Number>
void write_list(JsonWriter& json, const char* name, const std::vector<Number>& numbers) {
  json.member(name, base64(numbers.data(), numbers.size() * sizeof(Number)));
}

void write_data(fmt::memory_buffer& out, const MemoryChanges& changes, const History& history) {
  out.append(std::string_view("<script>\nconst data = "));
  JsonWriter json(out);
  json.begin_object();
  json.member("events", static_cast<std::int64_t>(history.request_of_event.size()));
  json.member("most", std::max(history.reserved.bytes, std::int64_t{1}));
  // Texts of the page are in its table: a name could end the script.
  json.key("names");
  json.begin_array();
  for (std::size_t i = 0; i < changes.owners.size(); ++i) json.value(static_cast<std::int64_t>(i));
  json.end_array();
  json.list("start", changes.start);
  write_list(json, "event", changes.event);
  write_list(json, "owner", changes.owner);
  write_list(json, "units", changes.units);
  json.end_object();
  out.append(std::string_view(";"));
  out.append(memory_page_script);
  out.append(std::string_view("</script>\n"));
}

}  // namespace

void write_memory_html(fmt::memory_buffer& out, const SnapshotAnswer& answer,
                       const MemoryRowOptions& options) {
  const bool by_line = options.by == MemoryRows::line;
  const History& history = answer.device.history;
  const Owners owners = owners_of(answer, options.by);
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < owners.size(); ++i)
    names.push_back(site_text(answer, owners[i].site, options.by));
  const MemoryChanges changes = changes_of(answer, owners, names, by_line);
  out.append(html_head(escaped(answer.snapshot.path), memory_page_style));
  fmt::format_to(fmt::appender(out), "<p class=\"faint\">{} events of device {}</p>\n",
                 group_digits(static_cast<std::int64_t>(history.request_of_event.size())),
                 history.device);
  write_facts(out, answer);
  out.append(std::string_view(
      "<h2>Memory over events</h2>\n<p class=\"faint\">Colors: allocated, by owner. Dashed: "
      "reserved. "
      "The wheel zooms, dragging moves, a double click shows all.</p>\n"
      "<canvas id=\"chart\"></canvas>\n<canvas id=\"map\"></canvas>\n<p id=\"at\"></p>\n"));
  write_owners(out, changes, owners, history.allocated.bytes,
               by_line ? "line of the program" : "module");
  fmt::memory_buffer text;
  write_memory(text, answer, options, {});
  out.append("<h2>In figures</h2>\n<pre>" + escaped({text.data(), text.size()}) + "</pre>\n");
  write_data(out, changes, history);
  out.append(std::string_view("</body>\n</html>\n"));
}

}  // namespace symprof::report
