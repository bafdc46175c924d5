// What computes the values of graphs for commands of the workbench.
#pragma once

#include "workbench/runnable.h"

namespace symprof::cli {

/// The interpreter of graphs on real values; LibTorch loads while the model is read.
workbench::ValueRunner value_runner();

}  // namespace symprof::cli
