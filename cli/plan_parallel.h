#pragma once

#include "cli/command.h"

namespace symprof::cli {

/// symprof plan parallel
Run add_parallel(CLI::App& app);

}  // namespace symprof::cli
