// A mesh of devices as text.
#pragma once

#include <string>

#include "plan/parallel/layout.h"

namespace symprof {

/// "2x8": two nodes of eight devices; "8": one node; "2x8:pcie4": their links, a file of
/// devices/links/. Throws Error.
plan::Mesh parse_mesh(const std::string& text);
std::string text_of(const plan::Mesh& mesh);

/// The file of devices/links/ with this name. Throws Error that lists the names.
std::string links_file(const std::string& name);

}  // namespace symprof
