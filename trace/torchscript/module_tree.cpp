#include "trace/torchscript/module_tree.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::trace::torchscript {
namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

ValueKind kind_of(const c10::ClassType& type, std::size_t attribute) {
  if (!type.is_module()) return ValueKind::buffer;
  return type.is_parameter(attribute) ? ValueKind::parameter : ValueKind::buffer;
}

}  // namespace

std::string class_name(const c10::ClassType& type) {
  if (!type.name()) return "";
  std::string result;
  for (const std::string& atom : type.name()->atoms())
    if (atom != "__torch__" && !atom.starts_with("___torch_mangle_")) result = joined(result, atom);
  return result;
}

ModuleTree::ModuleTree(const c10::IValue& root, GraphRecorder& recorder, std::optional<DType> dtype)
    : recorder_(recorder), dtype_(dtype) {
  visit(root.toObjectRef(), "");
}

const std::string* ModuleTree::path_of(const c10::ivalue::Object& object) const {
  const auto found = paths_.find(&object);
  return found == paths_.end() || !object.type()->is_module() ? nullptr : &found->second;
}

void ModuleTree::visit(c10::ivalue::Object& object, const std::string& path) {
  if (!paths_.emplace(&object, path).second) return;
  const c10::ClassType& type = *object.type();
  for (std::size_t i = 0; i < type.numAttributes() && i < object.slots().size(); ++i) {
    const std::string name = joined(path, type.getAttributeName(i));
    object.setSlot(i, faked(object.getSlot(i), name, kind_of(type, i)));
  }
}

c10::IValue ModuleTree::faked(const c10::IValue& value, const std::string& path, ValueKind kind) {
  if (value.isTensor()) return faked(value.toTensor(), path, kind);
  if (value.isObject()) {
    visit(value.toObjectRef(), path);
  } else if (value.isList()) {
    c10::List<c10::IValue> list = value.toList();
    for (std::size_t i = 0; i < list.size(); ++i)
      list.set(i, faked(list.get(i), joined(path, std::to_string(i)), kind));
  } else if (value.isGenericDict()) {
    const auto dictionary = value.toGenericDict();
    auto copy = c10::impl::GenericDict(dictionary.keyType(), dictionary.valueType());
    for (const auto& entry : dictionary)
      copy.insert(entry.key(), faked(entry.value(), joined(path, "item"), kind));
    return copy;
  } else if (value.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const c10::IValue& element : value.toTupleRef().elements())
      elements.push_back(faked(element, joined(path, std::to_string(elements.size())), kind));
    const auto type = value.type()->cast<c10::TupleType>();
    return type && type->name() ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
                                : c10::ivalue::Tuple::create(std::move(elements));
  }
  return value;
}

at::Tensor ModuleTree::faked(const at::Tensor& tensor, const std::string& path, ValueKind kind) {
  if (!tensor.defined() || meta::is_fake(tensor)) return tensor;
  Value value{.name = path, .kind = kind};
  value.spec = meta::spec_of(tensor);
  if (dtype_ && is_floating_point(value.spec->dtype)) value.spec->dtype = *dtype_;
  value.requires_grad = kind == ValueKind::parameter && tensor.requires_grad();
  const std::string key =
      fmt::format("{} {}", static_cast<const void*>(tensor.storage().unsafeGetStorageImpl()),
                  to_string(*value.spec));
  const auto shared = shared_.find(key);
  if (shared != shared_.end()) return shared->second;
  at::Tensor fake = meta::make_fake(*value.spec);
  if (value.requires_grad) fake.set_requires_grad(true);
  shared_.emplace(key, fake);
  recorder_.add_leaf(fake, std::move(value));
  return fake;
}

}  // namespace symprof::trace::torchscript
