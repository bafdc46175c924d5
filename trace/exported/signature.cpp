#include "trace/exported/signature.h"

#include <fmt/format.h>

namespace symprof::trace::exported {
namespace {

ValueId argument_id(const ReadGraph& read, Json spec, const Place& place) {
  const Json argument = member(spec, "arg", place);
  return read.value(text(member(argument, "name", place), place), place);
}

struct State {
  std::string_view tag;       ///< Kind of the input spec.
  std::string_view name_key;  ///< Which member has PyTorch's name.
  ValueKind kind;
};

constexpr State states[] = {
    {"parameter", "parameter_name", ValueKind::parameter},
    {"buffer", "buffer_name", ValueKind::buffer},
    {"tensor_constant", "tensor_constant_name", ValueKind::constant},
};

const State* state_of(std::string_view tag) {
  for (const State& state : states)
    if (state.tag == tag) return &state;
  return nullptr;
}

/// The spec in the weight's own record takes precedence: the graph's is that of the tracer's copy.
void apply_payload(Value& value, const Payloads& weights, const Payloads& constants,
                   const Archive& archive) {
  const bool is_weight = weights.contains(value.name);
  const Payloads& payloads = is_weight ? weights : constants;
  const auto payload = payloads.find(value.name);
  if (payload == payloads.end()) return;
  value.spec = payload->second.spec;
  const bool is_number = !is_floating_point(value.spec->dtype);
  if (value.kind == ValueKind::constant || (value.kind == ValueKind::buffer && is_number))
    value.constant = read_small_constant(archive, payload->second);
}

/// Inputs that are neither user inputs nor state. A token is an empty tensor that orders operators
/// with effects; constants and objects are already inlined in nodes.
void apply_other(ReadGraph& read, const Tagged& spec, const Place& place) {
  if (spec.tag == "token")
    read.graph.value(argument_id(read, spec.value, place)).kind = ValueKind::constant;
  else if (spec.tag != "constant_input" && spec.tag != "custom_obj")
    fail(place, fmt::format("an input of kind '{}' is not supported", spec.tag));
}

/// A joint graph includes its backward pass: its outputs are gradients, and nothing requires a
/// gradient.
void mark_joint(Graph& graph) {
  for (Value& value : graph.values) value.requires_grad = false;
  graph.warnings.emplace_back(
      "The file holds the backward pass as well: its rows are all forward rows, and no other "
      "backward pass is made.");
}

}  // namespace

void apply_inputs(ReadGraph& read, Json signature, const Archive& archive, const Payloads& weights,
                  const Payloads& constants, const Place& place) {
  auto shared = shared_storages(archive, weights);
  shared.merge(shared_storages(archive, constants));
  read.graph.inputs.clear();
  for (Json spec : array(member(signature, "input_specs", place), place)) {
    const Tagged tag = tagged(spec, place);
    if (tag.tag == "user_input") {
      const auto id = named_value(read, member(tag.value, "arg", place), place);
      if (id) read.graph.inputs.push_back(*id);
      continue;
    }
    const State* state = state_of(tag.tag);
    if (!state) {
      apply_other(read, tag, place);
      continue;
    }
    Value& value = read.graph.value(argument_id(read, tag.value, place));
    value.kind = state->kind;
    value.name = text(member(tag.value, state->name_key, place), place);
    value.dimensions.clear();
    apply_payload(value, weights, constants, archive);
    if (!value.spec) fail(place, fmt::format("nothing says which shape '{}' has", value.name));
    if (const auto key = shared.find(value.name); key != shared.end())
      value.storage_key = key->second;
  }
}

void apply_outputs(ReadGraph& read, Json signature, const Place& place) {
  std::unordered_map<std::string_view, ValueId> targets;
  for (std::size_t id = 0; id < read.graph.values.size(); ++id)
    targets.emplace(read.graph.values[id].name, static_cast<ValueId>(id));
  const auto mutation = [&](Json spec, std::string_view key) {
    const std::string_view name = text(member(spec, key, place), place);
    const auto target = targets.find(name);
    if (target == targets.end())
      fail(place, fmt::format("writes to '{}', which is no input", name));
    read.graph.mutations.push_back({target->second, argument_id(read, spec, place)});
  };
  bool is_joint = false;
  for (Json spec : array(member(signature, "output_specs", place), place)) {
    const auto [tag, value] = tagged(spec, place);
    if (tag == "user_output") {
      const auto id = named_value(read, member(value, "arg", place), place);
      if (id) read.graph.outputs.push_back(*id);
    } else if (tag == "loss_output") {
      read.graph.outputs.push_back(argument_id(read, value, place));
    } else if (tag == "gradient_to_parameter" || tag == "gradient_to_user_input") {
      read.graph.outputs.push_back(argument_id(read, value, place));
      is_joint = true;
    } else if (tag == "buffer_mutation") {
      mutation(value, "buffer_name");
    } else if (tag == "parameter_mutation") {
      mutation(value, "parameter_name");
    } else if (tag == "user_input_mutation") {
      mutation(value, "user_input_name");
    } else if (tag != "token") {
      fail(place, fmt::format("an output of kind '{}' is not supported", tag));
    }
  }
  if (is_joint) mark_joint(read.graph);
}

}  // namespace symprof::trace::exported
