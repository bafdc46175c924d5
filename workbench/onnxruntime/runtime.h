// ONNX Runtime's library, found when it is asked for: sessions and values that release themselves.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "workbench/onnxruntime/api.h"

namespace onnx {
class TypeProto;
}

namespace symprof::workbench::ort {

/// Gives an object back to the runtime by that one's function.
template <class Object, class Release>
struct Releaser {
  const Table* table = nullptr;
  void operator()(Object* object) const { Release::call(table, object); }
};
using OwnedSession = std::unique_ptr<Session, Releaser<Session, ReleaseSession>>;
using OwnedValue = std::unique_ptr<Value, Releaser<Value, ReleaseValue>>;

/// The library, loaded. Every member throws Error in the library's words where a call of it fails.
class Runtime {
 public:
  /// The library of SYMPROF_ONNXRUNTIME, else what the loader finds, else that of the active
  /// virtual environment. Throws Error (not_available) where there is none.
  Runtime();

  std::string version() const { return version_; }

  /// A session of a whole model that changes nothing in it.
  OwnedSession session(const std::string& model) const;
  /// The values of `outputs`, in their order.
  std::vector<OwnedValue> run(Session& session, const std::vector<const char*>& inputs,
                              const std::vector<const Value*>& values,
                              const std::vector<const char*>& outputs) const;

  /// A tensor over the constant's own bytes, which have to stay.
  OwnedValue value_of(const ConstantTensor& constant) const;
  using Tensors = std::vector<std::shared_ptr<const ConstantTensor>>;
  /// A copy: one tensor, or those of a sequence; empty for texts, maps and numbers of less than a
  /// byte.
  std::optional<Tensors> tensors_of(const Value& value) const;
  onnx::TypeProto type_of(const Value& value) const;

 private:
  template <class Called, class... Arguments>
  void call(Arguments... arguments) const {
    check(Called::call(table_, arguments...));
  }
  void check(Status* status) const;
  /// Null where the value is no tensor of numbers.
  std::shared_ptr<const ConstantTensor> tensor_of(const Value& value) const;
  void add_tensor_type(const TensorTypeAndShapeInfo& info, bool with_sizes,
                       onnx::TypeProto& type) const;

  const Table* table_ = nullptr;
  std::string version_;
  Env* env_ = nullptr;  // One for the process, which lives as long as it.
  SessionOptions* options_ = nullptr;
  MemoryInfo* memory_ = nullptr;
  Allocator* allocator_ = nullptr;
};

}  // namespace symprof::workbench::ort
