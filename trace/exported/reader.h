// The front end for .pt2 files: programs that torch.export.save wrote, as plain data.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "trace/graph/graph.h"

namespace symprof::trace {

constexpr GraphTraits exported_traits{
    .has_python_lines = true,
    .blocks_are_calls = true,
    .loses_own_backward = true,
    .knows_input_gradients = true,
    .records_dtypes = true,
    .may_lack_attributes = true,
    .saves_export_masks = true,
    .export_call = "torch.export.export(model, args, ",
};

/// Reads the graph of a .pt2 archive; "model.pt2:decode" is one program of several (schema
/// versions 4 to 8: PyTorch 2.3 and later, with the layout that 2.8 introduced or the one before).
/// Only its JSON records are read, and of the newer layout the bytes of small constants; weights
/// may be missing. Inputs whose sizes are symbolic have the example's sizes in Value::spec and the
/// expressions in Value::dimensions; an input that is a size itself has one dimension and no spec.
/// Throws Error: not a zip archive, truncated, a record missing, malformed JSON, a newer schema, an
/// unknown dtype or kind of argument, a value that nothing defines.
Graph load_exported(const std::string& path);

/// Weights and constants with data in a .pt2 archive of the newer layout, by the names of the
/// graph's values. Throws Error as load_exported does.
std::map<std::string, std::shared_ptr<const ConstantTensor>> load_exported_weights(
    const std::string& path);

}  // namespace symprof::trace
