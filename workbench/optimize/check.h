// Whether a model under change is still one.
#pragma once

#include <string>

#include "workbench/model.h"
#include "workbench/optimize/editor.h"

namespace symprof::workbench {

/// Throws Error where onnx's checker does not accept the model: "<path>: <what>: <its words>".
/// Tensors of more than a KiB are checked by type alone.
void check_model(const onnx::ModelProto& model, const std::string& path, const std::string& what,
                 const std::string& advice);

/// Throws Error where onnx infers another dtype or another size of a value than `editor` has for
/// it. `model` is what the editor has put back.
void check_types(const Editor& editor, const onnx::ModelProto& model, const std::string& path,
                 const std::string& what);

}  // namespace symprof::workbench
