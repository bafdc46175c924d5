// The devices that a training step is distributed over.
//
// Public header.
#pragma once

#include <string>

namespace symprof::plan {

/// Nodes of equal devices, with their links.
struct Mesh {
  int nodes = 1, devices_per_node = 1;
  std::string links = {};  ///< Name of a file of devices/links/; empty: the device's own.
  int devices() const { return nodes * devices_per_node; }
};

}  // namespace symprof::plan
