#include "python/bindings/memory.h"

#include "report/memory/comparison.h"
#include "report/memory/html.h"
#include "report/memory/memory.h"
#include "session/read_text.h"

namespace symprof::python {
namespace {

report::MemoryRowOptions rows_of(const std::string& by, int top) {
  constexpr settings::Named<report::MemoryRows> names[] = {{"line", report::MemoryRows::line},
                                                           {"module", report::MemoryRows::module}};
  return {.by = settings::choose(SettingRef{"by"}, by, names), .top = top};
}

}  // namespace

std::string MemoryHandle::text(std::optional<int> width, const std::string& by, int top) const {
  fmt::memory_buffer out;
  report::write_memory(out, answer, rows_of(by, top), {.width = width});
  return fmt::to_string(out);
}

std::string MemoryHandle::json() const {
  fmt::memory_buffer out;
  report::write_memory_json(out, answer);
  return fmt::to_string(out);
}

std::string MemoryHandle::html(const std::string& by) const {
  fmt::memory_buffer out;
  report::write_memory_html(out, answer, rows_of(by, report::MemoryRowOptions{}.top));
  return fmt::to_string(out);
}

MemoryHandle memory_of(const std::string& path, std::optional<std::int64_t> device) {
  return {read_memory(path, device)};
}

std::string MemoryComparisonHandle::text(std::optional<int> width, const std::string& by,
                                         int top) const {
  fmt::memory_buffer out;
  report::write_memory_comparison(out, both, rows_of(by, top), {.width = width});
  return fmt::to_string(out);
}

std::string MemoryComparisonHandle::json() const {
  fmt::memory_buffer out;
  report::write_memory_comparison_json(out, both);
  return fmt::to_string(out);
}

MemoryComparisonHandle compared_memory(const std::string& before, const std::string& after,
                                       std::optional<std::int64_t> device) {
  return {compare_memory(before, after, device)};
}

}  // namespace symprof::python
