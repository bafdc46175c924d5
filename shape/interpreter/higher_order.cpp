#include "shape/interpreter/higher_order.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "shape/interpreter/branch_cost.h"
#include "shape/interpreter/nested_body.h"
#include "trace/graph/uses.h"
#include "trace/passes/checkpoint_modules.h"

namespace symprof::shape {
namespace {

using c10::IValue;
using Tensors = std::vector<at::Tensor>;
using Values = std::vector<IValue>;

/// The operands of a node by type: higher-order operators have no schema with names.
struct HigherOrderCall {
  std::vector<const Graph*> graphs;
  std::vector<Values> lists;
  Values others;
  std::vector<std::string> kept;  // Of a checkpoint (trace/passes/checkpoint_modules.h).
  c10::Device device;
  const Recompute& recompute;
  Lifetimes lifetimes;

  const Graph& graph(std::size_t index) const { return *at(graphs, index, "graphs"); }
  const Values& list(std::size_t index) const { return at(lists, index, "lists of operands"); }
  /// Lists omitted by older versions are empty.
  Values list_or_none(std::size_t index) const {
    return index < lists.size() ? lists[index] : Values{};
  }

 private:
  template <class T>
  static const T& at(const std::vector<T>& parts, std::size_t index, const char* what) {
    if (index < parts.size()) return parts[index];
    throw Error("", fmt::format("{} {} where more are expected", parts.size(), what),
                "The file may be damaged; export it again.");
  }
};

class OperandReader {
 public:
  OperandReader(HigherOrderCall& call, const Values& values) : call_(call), values_(values) {}

  void operator()(const std::shared_ptr<const Graph>& graph) { call_.graphs.push_back(&*graph); }
  void operator()(const ValueRef& ref) { call_.others.push_back(value(ref)); }
  void operator()(std::int64_t number) { call_.others.emplace_back(number); }
  void operator()(double number) { call_.others.emplace_back(number); }
  void operator()(bool number) { call_.others.emplace_back(number); }
  void operator()(const std::vector<ListElement>& list) {
    Values& operands = call_.lists.emplace_back();
    for (const ListElement& element : list)
      operands.push_back(std::visit([&](const auto& held) { return value(held); }, element));
  }
  void operator()(const std::vector<std::int64_t>& list) {
    call_.lists.emplace_back(list.begin(), list.end());
  }
  /// Identifiers, modes, dictionaries of hints: no graph inputs.
  template <class Other>
  void operator()(const Other&) {}

 private:
  IValue value(const ValueRef& ref) const { return values_[static_cast<std::size_t>(ref.id)]; }
  static IValue value(const NoArgument&) { return {}; }
  template <class Number>
  static IValue value(Number number) {
    return number;
  }

  HigherOrderCall& call_;
  const Values& values_;
};

void append(Values& to, const Values& more) { to.insert(to.end(), more.begin(), more.end()); }

Values run(const HigherOrderCall& call, const Graph& body, Values inputs) {
  return run_body(body, std::move(inputs), call.device, call.recompute, call.lifetimes);
}

bool wants_gradient(const Values& inputs) {
  return at::GradMode::is_enabled() && std::ranges::any_of(inputs, [](const IValue& input) {
           return input.isTensor() && input.toTensor().defined() &&
                  input.toTensor().requires_grad();
         });
}

/// Runs `body` on `inputs`; backward keeps only the inputs and recomputes the body. The function
/// object outlives the call: the graph does too, values on the stack do not.
Values run_again_in_backward(const HigherOrderCall& call, const Graph& body, Values inputs,
                             RunAgain how = RunAgain::of_operator) {
  if (!call.recompute || !wants_gradient(inputs)) return run(call, body, std::move(inputs));
  Tensors tensors;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isTensor()) continue;
    places.push_back(i);
    tensors.push_back(inputs[i].toTensor());
    inputs[i] = IValue();  // Autograd keeps the tensors that backward needs.
  }
  const auto results = std::make_shared<Values>();  // Autograd sees the tensors among them.
  const auto function = [&body, places, results, numbers = std::move(inputs), device = call.device,
                         recompute = call.recompute,
                         lifetimes = call.lifetimes](const Tensors& given) {
    Values all = numbers;
    for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = given.at(i);
    *results = run_body(body, std::move(all), device, recompute, lifetimes);
    Tensors outputs;
    for (IValue& result : *results)  // An undefined tensor keeps the place of a tensor.
      if (result.isTensor()) outputs.push_back(std::exchange(result, at::Tensor()).toTensor());
    return outputs;
  };
  const Tensors outputs = call.recompute(function, tensors, {how, call.kept});
  Values all = *results;
  auto next = outputs.begin();
  for (IValue& result : all)
    if (result.isTensor()) result = *next++;
  return all;
}

/// cond(predicate, true graph, false graph, operands). FlopCounterMode also counts the more
/// expensive branch (torch/utils/flop_counter.py).
Values cond(const HigherOrderCall& call) {
  if (call.others.empty()) throw Error("", "has no predicate");
  const Graph& taken = call.graph(0);
  const Graph& otherwise = call.graph(1);
  const IValue& predicate = call.others[0];
  const bool chosen = is_known(predicate)
                          ? known_number(predicate, "the predicate") != 0
                          : is_costlier(taken, otherwise, call.list(0), call.device);
  return run_again_in_backward(call, chosen ? taken : otherwise, call.list(0));
}

/// while_loop(condition graph, body graph, carried values, further operands).
Values while_loop(const HigherOrderCall& call) {
  Values carried = call.list(0);
  const Values further = call.list_or_none(1);
  const auto inputs = [&] {
    Values all = carried;
    append(all, further);
    return all;
  };
  for (std::int64_t i = 0;; ++i) {
    if (i == most_iterations) throw Error("", "a loop that does not end");
    const Values condition = run(call, call.graph(0), inputs());
    if (known_number(condition.at(0), "the condition") == 0) return carried;
    carried = run_again_in_backward(call, call.graph(1), inputs());
  }
}

std::vector<Tensors> elements_of(const Values& tensors) {
  std::vector<Tensors> elements;
  for (const IValue& tensor : tensors) elements.push_back(at::unbind(tensor.toTensor(), 0));
  for (const Tensors& parts : elements)
    if (parts.size() != elements[0].size()) throw Error("", "operands of several lengths");
  return elements;
}

Values stacked(const std::vector<Tensors>& results) {
  Values outputs;
  for (const Tensors& parts : results) outputs.emplace_back(joined(parts, 0));
  return outputs;
}

/// scan(graph, initial values, scanned operands, further operands): the first results are carried
/// to the next element, the others are stacked.
Values scan(const HigherOrderCall& call) {
  Values carried = call.list(0);
  const std::vector<Tensors> elements = elements_of(call.list(1));
  const std::size_t steps = elements.empty() ? 0 : elements[0].size(), states = carried.size();
  std::vector<Tensors> results;
  for (std::size_t i = 0; i < steps; ++i) {
    Values inputs = carried;
    for (const Tensors& parts : elements) inputs.emplace_back(parts[i]);
    append(inputs, call.list_or_none(2));
    const Values outputs = run(call, call.graph(0), std::move(inputs));
    if (outputs.size() < states) throw Error("", "fewer results than values carried on");
    results.resize(outputs.size() - states);
    for (std::size_t j = 0; j < outputs.size(); ++j)
      if (j < states)
        carried[j] = outputs[j];
      else
        results[j - states].push_back(outputs[j].toTensor());
  }
  append(carried, stacked(results));
  return carried;
}

/// map_impl(graph, mapped operands, further operands).
Values map(const HigherOrderCall& call) {
  const std::vector<Tensors> elements = elements_of(call.list(0));
  const std::size_t steps = elements.empty() ? 0 : elements[0].size();
  std::vector<Tensors> results;
  for (std::size_t i = 0; i < steps; ++i) {
    Values inputs;
    for (const Tensors& parts : elements) inputs.emplace_back(parts[i]);
    append(inputs, call.list_or_none(1));
    const Values outputs = run_again_in_backward(call, call.graph(0), std::move(inputs));
    results.resize(outputs.size());
    for (std::size_t j = 0; j < outputs.size(); ++j) results[j].push_back(outputs[j].toTensor());
  }
  return stacked(results);
}

Tensors every_second(const Tensors& tensors, std::int64_t first, bool all_but_last) {
  Tensors parts;
  for (const at::Tensor& x : tensors)
    parts.push_back(x.slice(0, first, x.size(0) - (all_but_last ? 1 : 0), 2));
  return parts;
}

/// associative_scan(graph, scanned operands, further operands): pairwise, as
/// generic_associative_scan in torch/_higher_order_ops/associative_scan.py.
Tensors scan_in_pairs(const HigherOrderCall& call, const Tensors& x) {
  const std::int64_t length = x.at(0).size(0);
  if (length < 2) return x;
  const auto combine = [&](const Tensors& left, const Tensors& right) {
    Values inputs(left.begin(), left.end());
    append(inputs, Values(right.begin(), right.end()));
    append(inputs, call.list_or_none(1));
    Tensors outputs;
    for (const IValue& output : run(call, call.graph(0), std::move(inputs)))
      outputs.push_back(output.toTensor());
    return outputs;
  };
  const Tensors odd =
      scan_in_pairs(call, combine(every_second(x, 0, true), every_second(x, 1, false)));
  Tensors before = odd;
  if (length % 2 == 0)
    for (at::Tensor& part : before) part = part.slice(0, 0, part.size(0) - 1);
  const Tensors even = combine(before, every_second(x, 2, false));
  Tensors results;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const at::Tensor whole = at::cat({x[i].slice(0, 0, 1), even[i]}, 0);
    const at::Tensor padded =
        whole.size(0) == odd[i].size(0) ? odd[i] : at::cat({odd[i], whole.slice(0, 0, 1)}, 0);
    results.push_back(at::stack({whole, padded}, 1).flatten(0, 1).slice(0, 0, length));
  }
  return results;
}

Values associative_scan(const HigherOrderCall& call) {
  Tensors x;
  for (const IValue& operand : call.list(0)) x.push_back(operand.toTensor());
  if (x.empty()) return {};
  const Tensors results = scan_in_pairs(call, x);
  return {results.begin(), results.end()};
}

/// torch.utils.checkpoint: tag_activation_checkpoint(graph, *operands).
Values checkpoint(const HigherOrderCall& call) {
  return run_again_in_backward(call, call.graph(0), call.others, RunAgain::of_checkpoint);
}

using HigherOrderFunction = Values (*)(const HigherOrderCall&);

const std::map<std::string_view, HigherOrderFunction> higher_order_functions = {
    {"higher_order::associative_scan", associative_scan},
    {"higher_order::cond", cond},
    {"higher_order::map", map},
    {"higher_order::map_impl", map},
    {"higher_order::scan", scan},
    {"higher_order::tag_activation_checkpoint", checkpoint},
    {"higher_order::while_loop", while_loop},
    {"higher_order::wrap_activation_checkpoint", checkpoint},
};

}  // namespace

bool is_higher_order(std::string_view op) { return higher_order_functions.contains(op); }

Values run_higher_order(const Node& node, const Values& values, c10::Device device,
                        const Recompute& recompute, Lifetimes lifetimes) {
  HigherOrderCall call{{}, {}, {}, {}, device, recompute, lifetimes};
  OperandReader reader(call, values);
  for (const Argument& argument : node.arguments)
    if (argument.name.empty()) std::visit(reader, argument.value);
  if (const auto* kept = trace::argument_as<std::vector<std::string>>(
          trace::find_argument(node, trace::kept_argument)))
    call.kept = *kept;
  return higher_order_functions.find(node.op)->second(call);
}

}  // namespace symprof::shape
