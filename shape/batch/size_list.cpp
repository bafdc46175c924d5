#include "shape/batch/size_list.h"

#include <algorithm>

#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

/// For operators without sizes among their arguments.
constexpr std::size_t no_position = trace::any_position;

constexpr SizedOperator operators[] = {
    {"aten::view", SizeUse::view, "size", "", 1},
    {"aten::view_copy", SizeUse::view, "size", "", 1},
    {"aten::_unsafe_view", SizeUse::view, "size", "", 1},
    {"aten::_reshape_alias", SizeUse::view, "size", "", 1},
    {"aten::reshape", SizeUse::view, "shape", "", 1},
    {"aten::unflatten", SizeUse::view, "sizes", "", 2},
    {"aten::flatten", SizeUse::view, "", "", no_position},
    {"aten::squeeze", SizeUse::view, "", "", no_position},
    {"aten::unsqueeze", SizeUse::view, "", "", no_position},
    {"onnx::Reshape", SizeUse::view, "shape", "", 1},
    {"onnx::Flatten", SizeUse::view, "", "", no_position},
    {"onnx::Squeeze", SizeUse::view, "", "", no_position},
    {"onnx::Unsqueeze", SizeUse::view, "", "", no_position},
    {"aten::expand", SizeUse::expand, "size", "", 1},
    {"aten::expand_copy", SizeUse::expand, "size", "", 1},
    {"aten::broadcast_to", SizeUse::expand, "size", "", 1},
    {"onnx::Expand", SizeUse::expand, "", "", 1},
    {"aten::repeat", SizeUse::repeat, "repeats", "", 1},
    {"aten::tile", SizeUse::repeat, "dims", "", 1},
    {"onnx::Tile", SizeUse::repeat, "", "", 1},
    {"aten::repeat_interleave", SizeUse::interleave, "repeats", "", 1},
    {"aten::zeros", SizeUse::create, "size"},
    {"aten::ones", SizeUse::create, "size"},
    {"aten::empty", SizeUse::create, "size"},
    {"aten::full", SizeUse::create, "size"},
    {"aten::rand", SizeUse::create, "size"},
    {"aten::randn", SizeUse::create, "size"},
    {"aten::randint", SizeUse::create, "size", "", 1},
    {"aten::empty_permuted", SizeUse::create, "size"},
    {"aten::new_zeros", SizeUse::create, "size", "", 1},
    {"aten::new_ones", SizeUse::create, "size", "", 1},
    {"aten::new_full", SizeUse::create, "size", "", 1},
    {"aten::new_empty", SizeUse::create, "size", "", 1},
    {"aten::affine_grid_generator", SizeUse::create, "size", "", 1},
    {"aten::arange", SizeUse::create, "end"},
    {"aten::linspace", SizeUse::create, "steps", "", 2},
    {"aten::randperm", SizeUse::create, "n"},
    {"aten::eye", SizeUse::create, "n", "m"},
    {"aten::tril_indices", SizeUse::create, "row", "col"},
    {"aten::triu_indices", SizeUse::create, "row", "col"},
    {"onnx::ConstantOfShape", SizeUse::create},
    {"onnx::Range", SizeUse::create, "", "", 1},
    {"onnx::RandomNormal", SizeUse::create, "shape"},
    {"onnx::RandomUniform", SizeUse::create, "shape"},
    {"onnx::Resize", SizeUse::like_operand, "", "", 3},
    {"aten::native_group_norm", SizeUse::like_operand, "N", "", 3},
    {"aten::slice", SizeUse::slice, "start", "end", 2},
    {"aten::narrow", SizeUse::slice, "start", "length", 2},
    {"onnx::Slice", SizeUse::slice, "starts", "ends", 1},
    {"aten::select", SizeUse::select, "index", "", 2},
    {"onnx::Gather", SizeUse::select, "", "", 1},
    {"aten::split", SizeUse::split, "split_size", "", 1},
    {"aten::unsafe_split", SizeUse::split, "split_size", "", 1},
    {"aten::split_with_sizes", SizeUse::split, "split_sizes", "", 1},
    {"aten::unsafe_split_with_sizes", SizeUse::split, "split_sizes", "", 1},
    {"onnx::Split", SizeUse::split, "split", "", 1},
    {"aten::unbind", SizeUse::unbind, "", "", no_position},
    {"aten::as_strided", SizeUse::strides, "", "", no_position},
    {"aten::unfold", SizeUse::strides, "", "", no_position},
    {"aten::resize_", SizeUse::strides, "", "", no_position},
    {"aten::set_", SizeUse::strides, "", "", no_position},
};

/// True for dtypes of tensors that a plan can replace.
bool can_hold(DType dtype) {
  return dtype == DType::int64 || dtype == DType::int32 || dtype == DType::float32 ||
         dtype == DType::float64;
}

/// Adds the numbers of one argument.
class Reader {
 public:
  Reader(const Node& node, const NumbersOf& numbers) : node_(node), numbers_(numbers) {}

  void read(std::size_t argument) {
    const ArgumentValue& value = node_.arguments[argument].value;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      add(argument, 0, *number);
    } else if (const auto* list = std::get_if<Numbers>(&value)) {
      for (std::size_t i = 0; i < list->size(); ++i) add(argument, i, (*list)[i]);
    } else if (const auto* mixed = std::get_if<std::vector<ListElement>>(&value)) {
      for (std::size_t i = 0; i < mixed->size(); ++i) add(argument, i, (*mixed)[i]);
    } else if (const auto* ref = std::get_if<ValueRef>(&value)) {
      add(argument, ref->id);
    }
  }

  SizeList take() { return std::move(list_); }

 private:
  void add(std::size_t argument, std::size_t element, std::int64_t number) {
    list_.slots.push_back({argument, element});
    list_.file.push_back(number);
    list_.tried.push_back(number);
  }

  void add(std::size_t argument, std::size_t element, const ListElement& held) {
    if (const auto* number = std::get_if<std::int64_t>(&held))
      return add(argument, element, *number);
    const auto* ref = std::get_if<ValueRef>(&held);
    const auto both = ref == nullptr ? std::nullopt : numbers_(ref->id);
    list_.slots.push_back({argument, element, /*is_fixed=*/false});
    list_.file.push_back(both && both->file.size() == 1 ? both->file[0] : -1);
    list_.tried.push_back(both && both->tried.size() == 1 ? both->tried[0] : -1);
  }

  /// A tensor of sizes (ONNX operators), or a computed number.
  void add(std::size_t argument, ValueId id) {
    const auto both = numbers_(id);
    if (!both || both->file.size() != both->tried.size() || !can_hold(both->tensor.dtype)) return;
    const bool is_tensor = node_.op.starts_with("onnx::");
    for (std::size_t i = 0; i < both->file.size(); ++i) {
      list_.slots.push_back({argument, i, is_tensor});
      list_.file.push_back(both->file[i]);
      list_.tried.push_back(both->tried[i]);
    }
    if (is_tensor) list_.tensor = both->tensor;
  }

  const Node& node_;
  const NumbersOf& numbers_;
  SizeList list_;
};

std::size_t index_in(const Node& node, const Argument* argument) {
  return static_cast<std::size_t>(argument - node.arguments.data());
}

}  // namespace

const SizedOperator* find_sized(const Node& node) {
  const auto* found = std::ranges::find(operators, node.op, &SizedOperator::op);
  return found == std::end(operators) ? nullptr : found;
}

SizeList read_sizes(const Node& node, const SizedOperator& sized, const NumbersOf& numbers) {
  Reader reader(node, numbers);
  if (const Argument* first = trace::find_argument(node, sized.first, sized.position))
    reader.read(index_in(node, first));
  if (sized.second.empty()) return reader.take();
  if (const Argument* second = trace::find_argument(node, sized.second, sized.position + 1))
    reader.read(index_in(node, second));
  return reader.take();
}

std::vector<trace::BatchedArgument> changes_of(const SizeList& list, const Numbers& sizes,
                                               std::size_t node, const Batches& batches) {
  std::vector<trace::BatchedArgument> changes;
  if (sizes == list.tried) return changes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t argument = list.slots[i].argument;
    if (changes.empty() || changes.back().argument != argument)
      changes.push_back({.node = node, .argument = argument, .sizes = {}, .tensor = list.tensor});
    changes.back().sizes.push_back(batch_size(list.file[i], sizes[i], batches));
  }
  return changes;
}

void put_sizes(Node& node, const SizeList& list, const Numbers& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const SizeList::Slot& slot = list.slots[i];
    ArgumentValue& value = node.arguments[slot.argument].value;
    if (auto* number = std::get_if<std::int64_t>(&value))
      *number = sizes[i];
    else if (auto* numbers = std::get_if<Numbers>(&value))
      (*numbers)[slot.element] = sizes[i];
    else if (auto* mixed = std::get_if<std::vector<ListElement>>(&value); mixed && slot.is_fixed)
      (*mixed)[slot.element] = sizes[i];
  }
}

}  // namespace symprof::shape
