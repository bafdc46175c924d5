// A mesh of devices as text.
#pragma once

#include <string>

#include "plan/parallel/layout.h"

namespace symprof {

/// "2x8": two nodes of eight devices; "8": one node. Throws Error.
plan::Mesh parse_mesh(const std::string& text);

}  // namespace symprof
