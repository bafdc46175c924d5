#include "python/bindings/memory.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "report/memory/comparison.h"
#include "report/memory/html.h"
#include "report/memory/memory.h"
#include "report/profile/measured_memory.h"
#include "session/read_text.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

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

std::string MeasuredMemoryHandle::text(std::optional<int> width, int top) const {
  fmt::memory_buffer out;
  report::write_measured_memory(out, both, top, {.width = width});
  return fmt::to_string(out);
}

std::string MeasuredMemoryHandle::json() const {
  fmt::memory_buffer out;
  report::write_measured_memory_json(out, both);
  return fmt::to_string(out);
}

MemoryComparisonHandle compared_memory(const std::string& before, const std::string& after,
                                       std::optional<std::int64_t> device) {
  return {compare_memory(before, after, device)};
}

void bind_memory(nb::module_& module) {
  nb::class_<MemoryHandle>(module, "MemoryHandle")
      .def("text", &MemoryHandle::text, "width"_a.none(), "by"_a, "top"_a)
      .def("json", &MemoryHandle::json)
      .def("html", &MemoryHandle::html, "by"_a);
  module.def("memory_of", &memory_of, "path"_a, "device"_a.none(),
             nb::call_guard<nb::gil_scoped_release>());
  nb::class_<MemoryComparisonHandle>(module, "MemoryComparisonHandle")
      .def("growth", &MemoryComparisonHandle::growth)
      .def("text", &MemoryComparisonHandle::text, "width"_a.none(), "by"_a, "top"_a)
      .def("json", &MemoryComparisonHandle::json);
  nb::class_<MeasuredMemoryHandle>(module, "MeasuredMemoryHandle")
      .def("text", &MeasuredMemoryHandle::text, "width"_a.none(), "top"_a)
      .def("json", &MeasuredMemoryHandle::json);
  module.def("compared_memory", &compared_memory, "before"_a, "after"_a, "device"_a.none(),
             nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace symprof::python
