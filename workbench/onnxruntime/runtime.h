// ONNX Runtime's library, loaded on demand: sessions and values with automatic release.
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

/// Releases an object with the runtime's function.
template <class Object, class Release>
struct Releaser {
  const Table* table = nullptr;
  void operator()(Object* object) const { Release::call(table, object); }
};
using OwnedSession = std::unique_ptr<Session, Releaser<Session, ReleaseSession>>;
using OwnedValue = std::unique_ptr<Value, Releaser<Value, ReleaseValue>>;

/// The loaded library. Every member throws Error with the library's message where a call fails.
class Runtime {
 public:
  /// Loads the library given by SYMPROF_ONNXRUNTIME, else what the loader finds, else that of the
  /// active virtual environment. Throws Error (not_available) if there is none.
  Runtime();

  std::string version() const { return version_; }

  /// A session of a whole model, without optimizations.
  OwnedSession session(const std::string& model) const;
  /// The values of `outputs`, in their order.
  std::vector<OwnedValue> run(Session& session, const std::vector<const char*>& inputs,
                              const std::vector<const Value*>& values,
                              const std::vector<const char*>& outputs) const;

  /// A tensor over the constant's own bytes, which must outlive it.
  OwnedValue value_of(const ConstantTensor& constant) const;
  using Tensors = std::vector<std::shared_ptr<const ConstantTensor>>;
  /// A copy: one tensor, or those of a sequence; empty for texts, maps and dtypes below a byte.
  std::optional<Tensors> tensors_of(const Value& value) const;
  onnx::TypeProto type_of(const Value& value) const;

 private:
  template <class Called, class... Arguments>
  void call(Arguments... arguments) const {
    check(Called::call(table_, arguments...));
  }
  void check(Status* status) const;
  /// Null if the value is not a numeric tensor.
  std::shared_ptr<const ConstantTensor> tensor_of(const Value& value) const;
  void add_tensor_type(const TensorTypeAndShapeInfo& info, bool with_sizes,
                       onnx::TypeProto& type) const;

  const Table* table_ = nullptr;
  std::string version_;
  Env* env_ = nullptr;  // One per process, never released.
  SessionOptions* options_ = nullptr;
  MemoryInfo* memory_ = nullptr;
  Allocator* allocator_ = nullptr;
};

}  // namespace symprof::workbench::ort
