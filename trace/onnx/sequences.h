// Sequences of tensors, which the dynamo exporter writes for operators that return lists.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Makes the elements of a SplitToSequence the outputs of that node, where only SequenceAt nodes
/// with constant indices read it; those nodes are removed. Gives ConcatFromSequence the elements of
/// its SequenceConstruct as inputs. Other uses of sequences are left for the interpreter to report.
void unpack_sequences(Graph& graph);

}  // namespace symprof::trace
