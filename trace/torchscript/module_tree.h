// The modules of a loaded script: their paths, with fake tensors instead of weights.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "trace/torchscript/graph_recorder.h"

namespace symprof::trace::torchscript {

/// "torch.nn.modules.linear.Linear" for a class that the compiler names
/// "__torch__.torch.nn.modules.linear.___torch_mangle_3.Linear".
std::string class_name(const c10::ClassType& type);

class ModuleTree {
 public:
  /// Replaces every tensor in the attributes of `root`, and of the objects in it, by a fake one,
  /// and gives `recorder` a value for each. Tensors of one storage and geometry are one value.
  ModuleTree(const c10::IValue& root, GraphRecorder& recorder, std::optional<DType> dtype);

  /// The path of a module below the root ("" for the root itself); null for other objects.
  const std::string* path_of(const c10::ivalue::Object& object) const;

  /// The dtype to which floating-point tensors were cast; empty where they were not.
  std::optional<DType> dtype() const { return dtype_; }

 private:
  void visit(c10::ivalue::Object& object, const std::string& path);
  c10::IValue faked(const c10::IValue& value, const std::string& path, ValueKind kind);
  at::Tensor faked(const at::Tensor& tensor, const std::string& path, ValueKind kind);

  GraphRecorder& recorder_;
  std::optional<DType> dtype_;
  std::unordered_map<const c10::ivalue::Object*, std::string> paths_;
  std::unordered_map<std::string, at::Tensor> shared_;  // By storage and geometry.
};

}  // namespace symprof::trace::torchscript
