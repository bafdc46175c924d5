#include "python/bindings/device.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "base/device_spec.h"
#include "profile/cost/multiprocessor.h"
#include "profile/memory/memory_data.h"

namespace nb = nanobind;

namespace symprof::python {

void bind_device(nb::module_& module) {
  nb::class_<DeviceSpec>(module, "DeviceSpec")
      .def_ro("name", &DeviceSpec::name)
      .def_ro("description", &DeviceSpec::description)
      .def_ro("compute_major", &DeviceSpec::compute_major)
      .def_ro("compute_minor", &DeviceSpec::compute_minor)
      .def_ro("multiprocessors", &DeviceSpec::multiprocessors)
      .def_prop_ro("threads_of_multiprocessor", &profile::threads_of_multiprocessor)
      .def_ro("shared_memory_bytes", &DeviceSpec::shared_memory_per_block_optin_bytes)
      .def_ro("l2_bytes", &DeviceSpec::l2_bytes)
      .def_ro("clock_hz", &DeviceSpec::clock_hz)
      .def_ro("memory_bytes", &DeviceSpec::memory_bytes)
      .def_ro("memory_bytes_per_second", &DeviceSpec::memory_bytes_per_second)
      .def_ro("cudnn_version", &DeviceSpec::cudnn_version);
  nb::class_<StepMemory>(module, "Memory")
      .def_ro("allocated_bytes", &StepMemory::allocated_bytes)
      .def_ro("reserved_bytes", &StepMemory::reserved_bytes)
      .def_ro("requested_bytes", &StepMemory::requested_bytes)
      .def_ro("graph_pool_bytes", &StepMemory::graph_pool_bytes)
      .def_ro("alloc_retries", &StepMemory::alloc_retries)
      .def_ro("peak_allocated_bytes", &StepMemory::peak_allocated_bytes)
      .def_ro("peak_reserved_bytes", &StepMemory::peak_reserved_bytes)
      .def_ro("peak_requested_bytes", &StepMemory::peak_requested_bytes);
}

}  // namespace symprof::python
