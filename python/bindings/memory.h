// Memory snapshots, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>

#include "session/memory_snapshot.h"

namespace symprof::python {

struct MemoryHandle {
  SnapshotAnswer answer;

  std::string text(std::optional<int> width, const std::string& by, int top) const;
  std::string json() const;
  std::string html(const std::string& by) const;
};

/// Throws as `read_memory` does.
MemoryHandle memory_of(const std::string& path, std::optional<std::int64_t> device);

struct MemoryComparisonHandle {
  SnapshotComparison both;

  double growth() const { return both.growth(); }
  std::string text(std::optional<int> width, const std::string& by, int top) const;
  std::string json() const;
};

MemoryComparisonHandle compared_memory(const std::string& before, const std::string& after,
                                       std::optional<std::int64_t> device);

/// A measured history beside a predicted one.
struct MeasuredMemoryHandle {
  MeasuredMemory both;

  std::string text(std::optional<int> width, int top) const;
  std::string json() const;
};

/// Adds these, and the functions, to the module.
void bind_memory(nanobind::module_& module);

}  // namespace symprof::python
