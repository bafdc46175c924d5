// Checks that a changed model is still valid.
#pragma once

#include <string>

#include "workbench/model.h"
#include "workbench/optimize/editor.h"

namespace symprof::workbench {

/// Throws Error if onnx's checker rejects the model: "<path>: <what>: <its message>". Of tensors
/// above a KiB only the type is checked.
void check_model(onnx::ModelProto& model, const std::string& path, const std::string& what,
                 const std::string& advice);

/// Throws Error if onnx infers another dtype or size of a value than `editor` has. `model` is what
/// the editor has committed.
void check_types(const Editor& editor, const onnx::ModelProto& model, const std::string& path,
                 const std::string& what);

}  // namespace symprof::workbench
