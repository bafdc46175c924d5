#include "trace/exported/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trace/exported/tensor_meta.h"

namespace symprof::trace::exported {
namespace {

using Reader = ArgumentValue (*)(Json, const ArgumentContext&, const Place&);

ValueRef named(Json object, std::string_view key, const ArgumentContext& context,
               const Place& place) {
  return {context.value(text(member(object, key, place), place), place)};
}

ArgumentValue none_value(Json, const ArgumentContext&, const Place&) { return NoArgument{}; }

ArgumentValue tensor(Json value, const ArgumentContext& context, const Place& place) {
  return named(value, "name", context, place);
}

ArgumentValue tensors(Json value, const ArgumentContext& context, const Place& place) {
  std::vector<ListElement> result;
  for (Json element : array(value, place)) result.push_back(named(element, "name", context, place));
  return result;
}

/// `OptionalTensorArgument`.
ListElement optional_element(Json value, const ArgumentContext& context, const Place& place) {
  const Tagged tag = tagged(value, place);
  if (tag.tag == "as_none") return NoArgument{};
  return named(tag.value, "name", context, place);
}

ArgumentValue optional_tensor(Json value, const ArgumentContext& context, const Place& place) {
  const ListElement element = optional_element(value, context, place);
  if (const auto* ref = std::get_if<ValueRef>(&element)) return *ref;
  return NoArgument{};
}

ArgumentValue optional_tensors(Json value, const ArgumentContext& context, const Place& place) {
  std::vector<ListElement> result;
  for (Json element : array(value, place))
    result.push_back(optional_element(element, context, place));
  return result;
}

ArgumentValue one_int(Json value, const ArgumentContext&, const Place& place) {
  return integer(value, place);
}

ArgumentValue one_float(Json value, const ArgumentContext&, const Place& place) {
  return number(value, place);
}

ArgumentValue one_bool(Json value, const ArgumentContext&, const Place& place) {
  return boolean(value, place);
}

ArgumentValue one_string(Json value, const ArgumentContext&, const Place& place) {
  return std::string(text(value, place));
}

std::vector<std::int64_t> integers(Json value, const Place& place) {
  std::vector<std::int64_t> result;
  for (Json element : array(value, place)) result.push_back(integer(element, place));
  return result;
}

std::vector<double> numbers(Json value, const Place& place) {
  std::vector<double> result;
  for (Json element : array(value, place)) result.push_back(number(element, place));
  return result;
}

ArgumentValue ints(Json value, const ArgumentContext&, const Place& place) {
  return integers(value, place);
}

ArgumentValue floats(Json value, const ArgumentContext&, const Place& place) {
  return numbers(value, place);
}

ArgumentValue bools(Json value, const ArgumentContext&, const Place& place) {
  std::vector<bool> result;
  for (Json element : array(value, place)) result.push_back(boolean(element, place));
  return result;
}

/// A list of lists, each as `read` reads it.
template <Reader read>
ArgumentValue lists(Json value, const ArgumentContext& context, const Place& place) {
  std::vector<Argument> result;
  for (Json element : array(value, place)) result.push_back({{}, read(element, context, place)});
  return result;
}

ArgumentValue complex(Json value, const ArgumentContext&, const Place& place) {
  return std::complex<double>(number(member(value, "real", place), place),
                              number(member(value, "imag", place), place));
}

ArgumentValue dictionary(Json value, const ArgumentContext& context, const Place& place) {
  std::vector<Argument> result;
  for (const auto [key, element] : object(value, place))
    result.push_back({std::string(key), argument_value(element, context, place)});
  return result;
}

ArgumentValue custom_object(Json value, const ArgumentContext&, const Place& place) {
  return CustomObject{std::string(text(member(value, "class_fqn", place), place))};
}

ArgumentValue strings(Json value, const ArgumentContext&, const Place& place) {
  std::vector<std::string> result;
  for (Json element : array(value, place)) result.emplace_back(text(element, place));
  return result;
}

/// `SymIntArgument`, `SymFloatArgument`, `SymBoolArgument`: the name of a value, or a number.
ArgumentValue symbolic(Json value, const ArgumentContext& context, const Place& place) {
  const Tagged tag = tagged(value, place);
  if (tag.tag == "as_name") return ValueRef{context.value(text(tag.value, place), place)};
  if (tag.tag == "as_int") return integer(tag.value, place);
  if (tag.tag == "as_float") return number(tag.value, place);
  if (tag.tag == "as_bool") return boolean(tag.value, place);
  fail(place, fmt::format("unknown kind of number '{}'", tag.tag));
}

/// Numbers of one kind, and names of values among them.
template <class Number>
ArgumentValue symbolic_list(Json value, const ArgumentContext& context, const Place& place) {
  std::vector<ListElement> mixed;
  std::vector<Number> numbers;
  for (Json element : array(value, place)) {
    const ArgumentValue one = symbolic(element, context, place);
    if (const auto* ref = std::get_if<ValueRef>(&one)) {
      mixed.emplace_back(*ref);
    } else if (const auto* fixed = std::get_if<Number>(&one)) {
      mixed.emplace_back(*fixed);
      numbers.push_back(*fixed);
    } else {
      fail(place, "a list of numbers with one of another kind in it");
    }
  }
  if (numbers.size() == mixed.size()) return numbers;
  return mixed;
}

ArgumentValue scalar_type(Json value, const ArgumentContext&, const Place& place) {
  return dtype_of(integer(value, place), place);
}

ArgumentValue memory_format(Json value, const ArgumentContext&, const Place& place) {
  switch (integer(value, place)) {
    case 1:
      return MemoryFormat::contiguous;
    case 2:
      return MemoryFormat::channels_last;
    case 3:
      return MemoryFormat::channels_last_3d;
    case 4:
      return MemoryFormat::preserve;
    default:
      fail(place, "unknown memory format");
  }
}

ArgumentValue layout(Json value, const ArgumentContext&, const Place& place) {
  return integer(value, place) == 7 ? Layout::strided : Layout::other;
}

ArgumentValue device(Json value, const ArgumentContext&, const Place& place) {
  std::string name(text(member(value, "type", place), place));
  if (const auto index = optional_member(value, "index"))
    name += fmt::format(":{}", integer(*index, place));
  return DeviceName{std::move(name)};
}

ArgumentValue graph(Json value, const ArgumentContext& context, const Place& place) {
  return context.graph(member(value, "graph", place), place);
}

struct Kind {
  std::string_view tag;
  Reader read;
};

/// The kinds of `Argument` in torch/_export/serde/schema.py, the frequent ones first.
constexpr std::array kinds = {
    Kind{"as_tensor", tensor},
    Kind{"as_int", one_int},
    Kind{"as_ints", ints},
    Kind{"as_none", none_value},
    Kind{"as_bool", one_bool},
    Kind{"as_float", one_float},
    Kind{"as_tensors", tensors},
    Kind{"as_sym_ints", symbolic_list<std::int64_t>},
    Kind{"as_sym_int", symbolic},
    Kind{"as_optional_tensors", optional_tensors},
    Kind{"as_optional_tensor", optional_tensor},
    Kind{"as_scalar_type", scalar_type},
    Kind{"as_device", device},
    Kind{"as_layout", layout},
    Kind{"as_memory_format", memory_format},
    Kind{"as_string", one_string},
    Kind{"as_strings", strings},
    Kind{"as_floats", floats},
    Kind{"as_bools", bools},
    Kind{"as_sym_float", symbolic},
    Kind{"as_sym_bool", symbolic},
    Kind{"as_sym_floats", symbolic_list<double>},
    Kind{"as_sym_bools", symbolic_list<bool>},
    Kind{"as_operator", one_string},
    Kind{"as_graph", graph},
    Kind{"as_complex", complex},
    Kind{"as_int_lists", lists<ints>},
    Kind{"as_float_lists", lists<floats>},
    Kind{"as_nested_tensors", lists<tensors>},
    Kind{"as_string_to_argument", dictionary},
    Kind{"as_custom_obj", custom_object},
};

}  // namespace

ArgumentValue argument_value(Json argument, const ArgumentContext& context, const Place& place) {
  const Tagged tag = tagged(argument, place);
  const auto* kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.tag == tag.tag; });
  if (kind == kinds.end())
    fail(place, fmt::format("an argument of kind '{}' is not supported", tag.tag),
         "It is none that PyTorch 2.13 writes: the file may be newer than this symprof.");
  return kind->read(tag.value, context, place);
}

OperatorName operator_name(std::string_view target) {
  constexpr std::string_view ops = "torch.ops.";
  if (target.starts_with(ops)) {
    const std::string_view rest = target.substr(ops.size());
    const std::size_t first = rest.find('.');
    if (first == std::string_view::npos) return {fmt::format("python::{}", target), {}};
    const std::string_view space = rest.substr(0, first), name = rest.substr(first + 1);
    const std::size_t second = name.find('.');
    if (second == std::string_view::npos) return {fmt::format("{}::{}", space, name), {}};
    return {fmt::format("{}::{}", space, name.substr(0, second)),
            std::string(name.substr(second + 1))};
  }
  // PyTorch 2.5 and earlier: the Python path of the function.
  if (target.starts_with("torch._higher_order_ops."))
    return {fmt::format("higher_order::{}", target.substr(target.rfind('.') + 1)), {}};
  for (std::string_view prefix : {"_operator.", "math."})
    if (target.starts_with(prefix))
      return {fmt::format("builtin::{}", target.substr(prefix.size())), {}};
  for (std::string_view prefix : {"torch.sym_", "torch._sym_"})
    if (target.starts_with(prefix))
      return {fmt::format("builtin::sym_{}", target.substr(prefix.size())), {}};
  return {fmt::format("python::{}", target), {}};
}

}  // namespace symprof::trace::exported
