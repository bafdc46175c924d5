#include "trace/torchscript/weights.h"

#include <ATen/ATen.h>
#include <malloc.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstring>
#include <set>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/error_text.h"
#include "trace/torchscript/deep_stack.h"
#include "trace/torchscript/limits.h"

namespace symprof::trace {
namespace {

/// LibTorch takes a storage's size from the pickle, and its memory from a record: false for a
/// truncated or missing record.
bool is_whole(const c10::Storage& storage) {
  return malloc_usable_size(const_cast<void*>(storage.data())) >= storage.nbytes();
}

/// Collects the tensors of a module, named as in ModuleTree.
class WeightReader {
 public:
  void read(const c10::IValue& value, const std::string& path) {
    const auto below = [&](const std::string& name) {
      return path.empty() ? name : path + "." + name;
    };
    if (value.isTensor()) {
      add(value.toTensor(), path);
    } else if (value.isObject() && seen_.insert(&value.toObjectRef()).second) {
      const c10::ivalue::Object& object = value.toObjectRef();
      const c10::ClassType& type = *object.type();
      for (std::size_t i = 0; i < type.numAttributes() && i < object.slots().size(); ++i)
        read(object.getSlot(i), below(type.getAttributeName(i)));
    } else if (value.isList()) {
      const c10::List<c10::IValue> list = value.toList();
      for (std::size_t i = 0; i < list.size(); ++i) read(list.get(i), below(std::to_string(i)));
    }
  }

  WeightValues take() { return std::move(weights_); }

 private:
  void add(const at::Tensor& tensor, const std::string& path) {
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_quantized()) return;
    if (!is_whole(tensor.storage())) return;
    const at::Tensor values = tensor.detach().contiguous();
    auto weight = std::make_shared<ConstantTensor>();
    weight->spec = meta::spec_of(values);
    weight->spec.storage_offset = 0;
    weight->data.resize(values.nbytes());
    if (!weight->data.empty())
      std::memcpy(weight->data.data(), values.const_data_ptr(), values.nbytes());
    weights_[path] = std::move(weight);
  }

  std::set<const c10::ivalue::Object*> seen_;
  WeightValues weights_;
};

}  // namespace

WeightValues load_torchscript_weights(const std::string& path) {
  torchscript::check_limits(path);
  WeightReader reader;
  try {
    torchscript::run_on_deep_stack(
        [&] { reader.read(torch::jit::load(path, at::kCPU)._ivalue(), ""); });
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(path, meta::first_line(error),
                "LibTorch cannot read its weights: write it again with torch.jit.save.");
  }
  return reader.take();
}

}  // namespace symprof::trace
