// before                                      after
//   s = Add(Add(Gather(words, ids), Gather(types, kinds)),
//           positions)
//   y = LayerNormalization(s, w, b)             y = EmbedLayerNormalization(Cast(ids),
//                                                   Cast(kinds), words, positions,
//                                                   types, w, b), com.microsoft
// In any order, also without types. Positions are one constant, [length, hidden] or with a batch
// of 1: the folded Gather of 0, 1, 2, …
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// A table and the ids [batch, length] of the rows looked up.
struct Lookup {
  std::string table, ids;
};

struct EmbeddingParts {
  std::vector<Lookup> lookups;
  std::string positions;
};

std::optional<Lookup> lookup_of(const Editor& editor, const std::string& value) {
  const int gather = private_maker(editor, value, "Gather");
  if (gather < 0 || integer(editor.node(gather), "axis", 0) != 0) return std::nullopt;
  const onnx::NodeProto& proto = editor.node(gather);
  const auto dtype = editor.type(proto.input(1)).dtype();
  const bool are_ids = rank_of(editor, proto.input(1)) == 2 &&
                       !editor.is_constant(proto.input(1)) &&
                       (dtype == DType::int32 || dtype == DType::int64);
  return are_ids && rank_of(editor, proto.input(0)) == 2
             ? std::optional(Lookup{proto.input(0), proto.input(1)})
             : std::nullopt;
}

/// Collects the operands of a sum; false if one of them is something else.
bool take_parts(const Editor& editor, const std::string& sum, EmbeddingParts& parts) {
  if (const int add = private_maker(editor, sum, "Add"); add >= 0)
    return take_parts(editor, editor.node(add).input(0), parts) &&
           take_parts(editor, editor.node(add).input(1), parts);
  if (editor.constant(sum)) {
    if (!parts.positions.empty()) return false;
    parts.positions = sum;
    return true;
  }
  const auto lookup = lookup_of(editor, sum);
  if (lookup) parts.lookups.push_back(*lookup);
  return lookup.has_value();
}

/// Positions as a table [length, hidden] for sums of this type; empty if not possible.
std::string position_table(Editor& editor, const std::string& positions, const Type& sum) {
  const ConstantPointer constant = editor.constant(positions);
  std::vector<std::int64_t> sizes = constant->spec.sizes;
  if (sizes.size() == 3 && sizes[0] == 1) sizes.erase(sizes.begin());
  if (sizes.size() != 2 || sizes[0] != (*sum.sizes)[1].number || sizes[1] != (*sum.sizes)[2].number)
    return {};
  if (sizes == constant->spec.sizes) return positions;
  auto table = std::make_shared<ConstantTensor>(*constant);
  table->spec.strides = contiguous_strides(sizes);
  table->spec.sizes = std::move(sizes);
  return editor.add_constant(ConstantPointer(table), positions + "_table");
}

/// The ids in the operator's dtype.
std::string as_int32(Editor& editor, int node, const std::string& ids) {
  const Type type = editor.type(ids);
  if (type.dtype() == DType::int32) return ids;
  onnx::NodeProto made = node_of("Cast");
  set_integer(made, "to", onnx::TensorProto::INT32);
  made.add_input(ids);
  made.add_output(editor.fresh(ids + "_int32"));
  std::string name = made.output(0);
  editor.add(std::move(made), node, Type{onnx::TensorProto::INT32, type.sizes});
  return name;
}

}  // namespace

bool embed_layer_norm(Editor& editor, int node) {
  if (!editor.is(node, "LayerNormalization") || editor.node(node).output_size() != 1 ||
      editor.node(node).input_size() != 3)
    return false;
  const onnx::NodeProto norm = editor.node(node);
  const std::string& sum = norm.input(0);
  const Type type = editor.type(sum);
  EmbeddingParts parts;
  if (!type.sizes || type.sizes->size() != 3 ||
      !is_last_axis(editor, sum, integer(norm, "axis", -1)) || !take_parts(editor, sum, parts) ||
      parts.lookups.empty() || parts.lookups.size() > 2 || parts.positions.empty())
    return false;
  const std::string positions = position_table(editor, parts.positions, type);
  if (positions.empty()) return false;
  // The word table is the larger one.
  const bool has_types = parts.lookups.size() == 2;
  const Type first = editor.type(parts.lookups[0].table);
  if (has_types &&
      (*editor.type(parts.lookups[1].table).sizes)[0].number > (*first.sizes)[0].number)
    std::swap(parts.lookups[0], parts.lookups[1]);
  const Lookup& words = parts.lookups[0];
  std::vector<std::string> inputs{as_int32(editor, node, words.ids)};
  inputs.push_back(has_types ? as_int32(editor, node, parts.lookups[1].ids) : "");
  inputs.insert(inputs.end(), {words.table, positions, has_types ? parts.lookups[1].table : "",
                               norm.input(1), norm.input(2)});
  onnx::NodeProto made = node_of("EmbedLayerNormalization", contrib_domain);
  set_real(made, "epsilon", real(norm, "epsilon", 1e-5F));
  const std::string counts = editor.fresh(norm.output(0) + "_tokens");
  editor.set_type(counts, {onnx::TensorProto::INT32, std::vector<Size>{(*type.sizes)[0]}});
  become(editor, node, std::move(made), inputs, {counts});
  return true;
}

}  // namespace symprof::workbench::rules
