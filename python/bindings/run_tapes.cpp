#include "python/bindings/run_tapes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace symprof::python {

profile::RunMemory RunTapes::play(const std::vector<std::int32_t>& order,
                                  const std::string& alloc_conf,
                                  std::optional<std::int64_t> device_bytes, double fraction) const {
  profile::RunOptions options{.allocator = profile::parse_allocator_settings(alloc_conf),
                              .device_bytes = device_bytes};
  options.allocator.per_process_memory_fraction = fraction;
  return profile::play_run(tapes, order, options);
}

void bind_run_tapes(nb::module_& module) {
  using profile::Refusal;
  using profile::RunMemory;
  using profile::RunRow;
  nb::class_<RunRow>(module, "RunRow")
      .def_ro("allocated_bytes", &RunRow::allocated_bytes)
      .def_ro("reserved_bytes", &RunRow::reserved_bytes)
      .def_ro("peak_allocated_bytes", &RunRow::peak_allocated_bytes)
      .def_ro("peak_reserved_bytes", &RunRow::peak_reserved_bytes)
      .def_ro("inactive_split_bytes", &RunRow::inactive_split_bytes)
      .def_ro("segments", &RunRow::segments)
      .def_ro("alloc_retries", &RunRow::alloc_retries)
      .def_ro("device_frees", &RunRow::device_frees);
  nb::class_<Refusal>(module, "Refusal")
      .def_ro("row", &Refusal::row)
      .def_ro("bytes", &Refusal::bytes)
      .def_ro("allocated_bytes", &Refusal::allocated_bytes)
      .def_ro("reserved_bytes", &Refusal::reserved_bytes);
  nb::class_<RunMemory>(module, "RunMemory")
      .def_ro("rows", &RunMemory::rows)
      .def_ro("refused", &RunMemory::refused)
      .def_ro("unmatched_blocks", &RunMemory::unmatched_blocks);
  nb::class_<RunTapes>(module, "RunTapes")
      .def("__len__", [](const RunTapes& tapes) { return tapes.tapes.size(); })
      .def("play", &RunTapes::play, nb::arg("order"), nb::arg("alloc_conf"),
           nb::arg("device_bytes").none(), nb::arg("fraction"),
           nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace symprof::python
