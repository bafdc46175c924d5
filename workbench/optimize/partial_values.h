// Constants of which some elements have no value that ONNX specifies: a Cast of infinity to an
// integer. What a Where does not choose of them does not matter.
#pragma once

#include <optional>
#include <string>

#include "workbench/constants.h"
#include "workbench/optimize/editor.h"

namespace symprof::workbench {

struct PartialValue {
  ConstantPointer value;
  ConstantPointer undefined;  ///< True where `value` is arbitrary; null: nowhere.
};

/// The value of a constant, or of element-wise nodes of constants; empty for others.
std::optional<PartialValue> partial_value(const Editor& editor, const std::string& name);

/// What Where gives for known operands, if it chooses no undefined element.
ConstantPointer chosen(const onnx::NodeProto& where, const ConstantPointer& condition,
                       const PartialValue& x, const PartialValue& y);

}  // namespace symprof::workbench
