// before                                                     after
//   a, b = Split(x) into halves of the last axis
//   y = Add(Mul(x, c), Mul(Concat(Neg(b), a), s))            y = RotaryEmbedding(x, c', s'), where
//   c, s of two equal halves each                            c', s' are one half, from opset 23 on
//                                                            y = RotaryEmbedding(x, [0], c', s'),
//                                                            com.microsoft
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

struct Rotation {
  std::string x, cosine, sine;
  std::int64_t length = 0, size = 0;
};

/// The x whose halves `value` swaps, the second one negated; else empty.
std::string turned_halves(const Editor& editor, const std::string& value) {
  const int concat = private_maker(editor, value, "Concat");
  if (concat < 0 || editor.node(concat).input_size() != 2 ||
      !is_last_axis(editor, value, integer(editor.node(concat), "axis", 0)))
    return {};
  const int negated = private_maker(editor, editor.node(concat).input(0), "Neg");
  if (negated < 0) return {};
  const std::string first = editor.node(concat).input(1), second = editor.node(negated).input(0);
  const int split = editor.maker(first);
  if (!editor.is(split, "Split") || editor.maker(second) != split || !editor.is_private(first) ||
      !editor.is_private(second))
    return {};
  const onnx::NodeProto& halves = editor.node(split);
  if (halves.output_size() != 2 || halves.output(0) != first || halves.output(1) != second ||
      !is_last_axis(editor, halves.input(0), integer(halves, "axis", 0)) ||
      !editor.type(first).sizes || !editor.type(first).same(editor.type(second)))
    return {};
  return halves.input(0);
}

std::optional<Rotation> rotation_of(const Editor& editor, int node) {
  if (!editor.is(node, "Add")) return std::nullopt;
  for (const int side : {0, 1}) {
    const int straight = private_maker(editor, editor.node(node).input(side), "Mul"),
              turned = private_maker(editor, editor.node(node).input(1 - side), "Mul");
    if (straight < 0 || turned < 0) return std::nullopt;
    for (const int which : {0, 1}) {
      const std::string x = turned_halves(editor, editor.node(turned).input(which));
      if (x.empty()) continue;
      const onnx::NodeProto& product = editor.node(straight);
      if (product.input(0) != x && product.input(1) != x) continue;
      const Type type = editor.type(x);
      if (!type.sizes || type.sizes->size() != 4 || !(*type.sizes)[2].is_known() ||
          !type.sizes->back().is_known())
        return std::nullopt;
      return Rotation{x, product.input(product.input(0) == x ? 1 : 0),
                      editor.node(turned).input(1 - which), (*type.sizes)[2].number,
                      type.sizes->back().number};
    }
  }
  return std::nullopt;
}

/// The first half of a table [length, size] whose halves are equal; else null.
ConstantPointer half_of(const Editor& editor, const std::string& value, const Rotation& of) {
  const ConstantPointer table = editor.constant(value);
  if (!table || table->spec.numel() != of.length * of.size || table->spec.sizes.size() < 2 ||
      table->spec.sizes.back() != of.size || of.size % 2 != 0 ||
      table->spec.sizes[table->spec.sizes.size() - 2] != of.length)
    return nullptr;
  const auto numbers = reals_of(*table);
  const auto size = static_cast<std::size_t>(of.size), half = size / 2;
  std::vector<double> kept;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t column = i % size;
    if (column < half)
      kept.push_back(numbers[i]);
    else if (numbers[i] != numbers[i - half])
      return nullptr;
  }
  return make_constant(table->spec.dtype, {of.length, of.size / 2}, kept);
}

struct Tables {
  std::string cosine, sine;
};

std::optional<Tables> tables_of(Editor& editor, const Rotation& of) {
  const ConstantPointer cosine = half_of(editor, of.cosine, of),
                        sine = half_of(editor, of.sine, of);
  if (!cosine || !sine) return std::nullopt;
  return Tables{editor.add_constant(cosine, of.cosine + "_half"),
                editor.add_constant(sine, of.sine + "_half")};
}

}  // namespace

bool rotary_embedding(Editor& editor, int node) {
  if (editor.opset() < 23) return false;
  const auto rotation = rotation_of(editor, node);
  if (!rotation) return false;
  const Size batch = editor.type(rotation->x).sizes->front();
  if (!batch.is_known() || batch.number > 4096) return false;
  const auto tables = tables_of(editor, *rotation);
  if (!tables) return false;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < batch.number * rotation->length; ++i)
    places.push_back(i % rotation->length);
  const std::string positions = editor.add_constant(
      make_integers({batch.number, rotation->length}, places), rotation->x + "_positions");
  become(editor, node, node_of("RotaryEmbedding"),
         {rotation->x, tables->cosine, tables->sine, positions});
  return true;
}

bool contrib_rotary_embedding(Editor& editor, int node) {
  const auto rotation = rotation_of(editor, node);
  if (!rotation) return false;
  const auto dtype = editor.type(rotation->x).dtype();
  if (dtype != DType::float32 && dtype != DType::float16) return false;
  const auto tables = tables_of(editor, *rotation);
  if (!tables) return false;
  const std::string start = editor.add_constant(make_integers({1}, {0}), "first_position");
  become(editor, node, node_of("RotaryEmbedding", contrib_domain),
         {rotation->x, start, tables->cosine, tables->sine});
  return true;
}

}  // namespace symprof::workbench::rules
