#include "trace/torchscript/function_locals.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "trace/python/source/assignment.h"
#include "trace/torchscript/original_source.h"

namespace symprof::trace::torchscript {
namespace {

/// The node of `block` that is or contains `user`; null if it is elsewhere.
const torch::jit::Node* node_in(const torch::jit::Block& block, const torch::jit::Node* user) {
  while (user != nullptr && user->owningBlock() != &block) user = user->owningBlock()->owningNode();
  return user;
}

const torch::jit::Block& block_of(const torch::jit::Value& value) {
  return *value.node()->owningBlock();
}

/// True for `_7`, the printer's name of an unnamed value.
bool is_unnamed(std::string_view printed) {
  return printed.starts_with('_') && std::ranges::all_of(printed.substr(1), is_digit);
}

/// The target of the assignment that created the value: the printer appends a number to its name.
std::optional<std::string> target_of(const torch::jit::Value& value, std::string_view printed) {
  const auto source = original_source(*value.node());
  if (!source || source->function) return std::nullopt;
  for (const std::vector<Target>& group : parse_assignment(source->text).targets)
    for (const Target& target : group)
      if (target.replaces && !target.name.empty() && printed.starts_with(target.name) &&
          std::ranges::all_of(printed.substr(target.name.size()), is_digit))
        return std::string(target.name);
  return std::nullopt;
}

/// The first consumer of the value.
const torch::jit::Node* first_user(const torch::jit::Value& value) {
  const torch::jit::Node* first = nullptr;
  for (const torch::jit::Use& use : value.uses())
    if (first == nullptr || use.user->isBefore(first)) first = use.user;
  return first;
}

/// True if `value` is used after the statement that created `other`.
bool is_needed_after(const torch::jit::Value& value, const torch::jit::Value& other) {
  const torch::jit::Node* const made = other.node();
  const auto statement = original_source(*made);
  return std::ranges::any_of(value.uses(), [&](const torch::jit::Use& use) {
    if (!use.user->isAfter(made)) return false;
    const auto source = statement ? original_source(*use.user) : std::nullopt;
    return !source || source->line != statement->line;
  });
}

bool is_made_by_generated_code(const torch::jit::Value& value) {
  const auto source = original_source(*value.node());
  return source && source->is_generated;
}

/// True if a trace's name of the value comes from the forward function that contains its node, and
/// not from a function that received it.
bool is_used_by_forward(const torch::jit::Value& value) {
  const torch::jit::Node* user = first_user(value);
  if (user == nullptr || user->kind() == c10::prim::CallMethod) return false;
  if (user->kind() == c10::prim::ListConstruct && user->output()->uses().size() == 1)
    user = user->output()->uses()[0].user;
  if (const auto source = original_source(*user); source && source->function)
    return *source->function == "forward";
  return value.debugNameBase() != "input";  // The name used in torch.nn.functional.
}

}  // namespace

FunctionLocals::FunctionLocals(const torch::jit::Block& body, bool traced) : traced_(traced) {
  add_block(body);
}

void FunctionLocals::add_block(const torch::jit::Block& block) {
  if (traced_) find_unsure(block);
  for (const torch::jit::Value* input : block.inputs()) {
    name(*input);
    add_value(*input);
  }
  for (const torch::jit::Node* node : block.nodes()) {
    for (const torch::jit::Value* output : node->outputs()) name(*output);  // As the printer does,
    for (const torch::jit::Block* inner : node->blocks()) add_block(*inner);
    for (const torch::jit::Value* output : node->outputs())
      add_value(*output);  // but they are bound here.
    if (node->outputs().size() > 1) name_unused(*node);
  }
}

void FunctionLocals::find_unsure(const torch::jit::Block& block) {
  const auto add = [&](const torch::jit::Value& value) {
    if (is_made_by_generated_code(value))
      nameless_.insert(&value);
    else if (!is_used_by_forward(value))
      unsure_.insert(&value);
  };
  for (const torch::jit::Value* input : block.inputs()) add(*input);
  for (const torch::jit::Node* node : block.nodes())
    if (node->kind() != c10::prim::GetAttr && node->kind() != c10::prim::Constant)
      for (const torch::jit::Value* output : node->outputs()) add(*output);
}

void FunctionLocals::name(const torch::jit::Value& value) {
  if (!value.hasDebugName()) return;
  const std::string printed = value.debugNameBase();
  const std::string variable = variables_[printed] = variable_of(value, printed);
  if (value.node()->kind() == c10::prim::GetAttr || is_unnamed(printed)) return;
  if (!unsure_.contains(&value) && !nameless_.contains(&value)) names_[&value] = variable;
}

void FunctionLocals::add_value(const torch::jit::Value& value) {
  find_last(value, block_of(value));
  const auto named = names_.find(&value);
  if (named == names_.end()) return;
  const auto [latest, is_first] = latest_.try_emplace(named->second, &value);
  if (!is_first && is_needed_after(*latest->second, value)) outliving_.insert(latest->second);
  latest->second = &value;
}

/// `largest, _ = x.max(dim=0)` keeps both alive: the code printer drops unused names.
void FunctionLocals::name_unused(const torch::jit::Node& node) {
  const auto source = original_source(node);
  if (!source || source->function) return;
  const Assignment assignment = parse_assignment(source->text);
  if (assignment.targets.empty()) return;
  const std::vector<Target>& targets = assignment.targets.back();
  if (targets.size() != node.outputs().size()) return;
  const auto named = [&](std::size_t i) { return names_.contains(node.outputs()[i]); };
  bool agrees = false;
  for (std::size_t i = 0; i < targets.size(); ++i)
    agrees |= named(i) && names_.at(node.outputs()[i]) == targets[i].name;
  for (std::size_t i = 0; agrees && i < targets.size(); ++i)
    if (!named(i) && targets[i].replaces) names_[node.outputs()[i]] = targets[i].name;
}

/// Each branch releases a value separately; a loop may need it in its next iteration.
void FunctionLocals::find_last(const torch::jit::Value& value, const torch::jit::Block& block) {
  const torch::jit::Node* last = nullptr;
  for (const torch::jit::Use& use : value.uses()) {
    const torch::jit::Node* user = node_in(block, use.user);
    if (user != nullptr && (last == nullptr || last->isBefore(user))) last = user;
  }
  if (last == nullptr) return;
  const bool inside = std::ranges::any_of(value.uses(), [&](const torch::jit::Use& use) {
    return use.user != last && node_in(block, use.user) == last;
  });
  (inside ? done_ : taken_)[last].push_back(&value);
  if (inside && last->kind() == c10::prim::If)
    for (const torch::jit::Block* branch : last->blocks()) find_last(value, *branch);
}

/// The variable that the value's statement assigns, if in the file; else `x` for `x3` if there was
/// an `x` before.
std::string FunctionLocals::variable_of(const torch::jit::Value& value,
                                        const std::string& printed) const {
  if (const auto target = target_of(value, printed)) return *target;
  for (std::size_t length = printed.size(); length > 1 && is_digit(printed[length - 1]);) {
    const auto known = variables_.find(printed.substr(0, --length));
    if (known != variables_.end()) return known->second;
  }
  return printed;
}

const FunctionLocals::Values& FunctionLocals::taken_by(const torch::jit::Node& node) const {
  static const Values none;
  const auto found = taken_.find(&node);
  return found == taken_.end() ? none : found->second;
}

const FunctionLocals::Values& FunctionLocals::done_with(const torch::jit::Node& node) const {
  static const Values none;
  const auto found = done_.find(&node);
  return found == done_.end() ? none : found->second;
}

std::string_view FunctionLocals::name_of(const torch::jit::Value& value) const {
  const auto found = names_.find(&value);
  return found == names_.end() ? std::string_view{} : found->second;
}

}  // namespace symprof::trace::torchscript
