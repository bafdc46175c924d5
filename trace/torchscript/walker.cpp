#include "trace/torchscript/walker.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/error_text.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/mixed_dtypes.h"
#include "trace/graph/region_markers.h"
#include "trace/python/dtypes/cast_lines.h"
#include "trace/torchscript/autocast.h"
#include "trace/torchscript/containers.h"
#include "trace/torchscript/operator_call.h"

namespace symprof::trace::torchscript {
namespace {

using c10::IValue;

constexpr int most_depth = 400;
/// Ten times the calls of the largest models; each takes a kilobyte.
constexpr std::size_t most_calls = 500'000;
constexpr std::size_t most_bytes_of_constant = 65536;

/// An error that already names its node: enclosing nodes do not extend it.
struct PlacedError final : Error {
  explicit PlacedError(Error error) : Error(std::move(error)) {}
};

// Counts nested blocks and calls.
class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) {
    if (++depth_ > most_depth) {
      --depth_;
      throw Error("", fmt::format("calls and branches are nested more than {} deep", most_depth));
    }
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace

Walker::Walker(Graph& graph, GraphRecorder& recorder, const ModuleTree& modules, Options options)
    : graph_(graph), recorder_(recorder), modules_(modules), options_(options) {}

Walker::Handler Walker::find_handler(c10::Symbol kind) {
  static const std::unordered_map<c10::Symbol, Handler> handlers = {
      {c10::prim::If, &Walker::run_if},
      {c10::prim::Loop, &Walker::run_loop},
      {c10::prim::CallMethod, &Walker::run_call_method},
      {c10::prim::CallFunction, &Walker::run_call_function},
      {c10::prim::fork, &Walker::run_fork},
      {c10::prim::Enter, &Walker::run_enter},
      {c10::prim::Exit, &Walker::run_exit},
      {c10::prim::RaiseException, &Walker::run_raise},
  };
  const auto found = handlers.find(kind);
  return found == handlers.end() ? nullptr : found->second;
}

IValue Walker::call_method(const IValue& object, const std::string& method,
                           std::vector<IValue> arguments, ScopeId scope) {
  const c10::ivalue::Object& self = object.toObjectRef();
  std::vector<IValue> all = {object};
  for (IValue& argument : arguments) all.push_back(std::move(argument));
  return call(self.type()->getMethod(method), std::move(all), scope, &self);
}

IValue Walker::call(torch::jit::Function& function, std::vector<IValue> arguments, ScopeId scope,
                    const c10::ivalue::Object* self) {
  const Nesting nesting(depth_);
  torch::jit::GraphFunction* script = torch::jit::tryToGraphFunction(function);
  if (script == nullptr) {  // A method of a class that is written in C++.
    function.run(arguments);
    return arguments.empty() ? IValue() : arguments.back();
  }
  const torch::jit::Block& body = *script->graph()->block();
  TORCH_CHECK(body.inputs().size() == arguments.size(), function.name(), " takes ",
              body.inputs().size(), " arguments, not ", arguments.size());
  Frame frame(scope, self, locals_of(body));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    frame.set(body.inputs()[i], std::move(arguments[i]));
  run_block(body, frame);
  std::vector<IValue> results = frame.take_inputs(*body.return_node());
  return results.empty() ? IValue() : std::move(results[0]);
}

const FunctionLocals& Walker::locals_of(const torch::jit::Block& body) {
  const auto found = locals_.find(&body);
  if (found != locals_.end()) return found->second;
  return locals_.try_emplace(&body, body, options_.traced).first->second;
}

void Walker::run_block(const torch::jit::Block& block, Frame& frame) {
  const Nesting nesting(depth_);
  for (const torch::jit::Node* node : block.nodes()) run_node(*node, frame);
}

void Walker::run_node(const torch::jit::Node& node, Frame& frame) try {
  count_step();
  if (const Handler handler = find_handler(node.kind())) {
    (this->*handler)(node, frame);
  } else if (const ContainerFunction function = find_container_function(node.kind())) {
    std::vector<IValue> results = function(node, frame.take_inputs(node));
    if (node.kind() == c10::prim::Constant) results[0] = readable(std::move(results[0]));
    set_outputs(node, frame, std::move(results));
  } else {
    run_operator(node, frame);
  }
  frame.finish(node);
} catch (const PlacedError&) {
  throw;
} catch (const meta::MixedDTypes& error) {
  throw PlacedError({where(node), error.problem(unspelled), meta::dtype_advice(graph_.cast_to)});
} catch (const Error& error) {
  throw PlacedError(error.inside(where(node)));
} catch (const c10::Error& error) {
  throw PlacedError(meta::refusal(
      where(node), error,
      meta::is_about_dtypes(meta::first_line(error))
          ? meta::dtype_advice(graph_.cast_to)
          : "Check the shapes that " + setting("inputs") +
                " gives; symprof follows the code of torch.jit.script and torch.jit.trace."));
} catch (const std::exception& error) {
  throw PlacedError(Error(where(node), meta::first_line(error)));
}

void Walker::count_step() {
  if (graph_.nodes.size() > most_calls)
    throw Error("", fmt::format("the code calls more than {} operators", most_calls),
                "Does a loop end for these inputs?");
  if (++steps_ <= options_.most_steps) return;
  throw Error("", fmt::format("the code takes more than {} steps", options_.most_steps),
              "Does a loop end for these inputs?");
}

void Walker::run_if(const torch::jit::Node& node, Frame& frame) {
  const bool condition = frame.take_inputs(node).at(0).toBool();
  const torch::jit::Block& block = *node.blocks().at(condition ? 0 : 1);
  run_block(block, frame);
  set_outputs(node, frame, frame.take_inputs(*block.return_node()));
}

// Inputs: trip count, condition, carried values. The body takes the counter and the carried values,
// and returns the next condition and values (docs of prim::Loop in torch/csrc/jit/OVERVIEW.md).
void Walker::run_loop(const torch::jit::Node& node, Frame& frame) {
  std::vector<IValue> carried = frame.take_inputs(node);
  const std::int64_t trips = carried.at(0).toInt();
  bool goes_on = carried.at(1).toBool();
  carried.erase(carried.begin(), carried.begin() + 2);
  const torch::jit::Block& body = *node.blocks().at(0);
  for (std::int64_t i = 0; i < trips && goes_on; ++i) {
    count_step();  // The body may be empty.
    frame.set(body.inputs()[0], IValue(i));
    for (std::size_t v = 0; v < carried.size(); ++v)
      frame.set(body.inputs().at(v + 1), std::move(carried[v]));
    run_block(body, frame);
    carried = frame.take_inputs(*body.return_node());
    goes_on = carried.at(0).toBool();
    carried.erase(carried.begin());
  }
  set_outputs(node, frame, std::move(carried));
}

// A module call keeps its arguments alive until it returns (`_wrapped_call_impl` in
// torch/nn/modules/module.py); other functions own them.
void Walker::run_call_method(const torch::jit::Node& node, Frame& frame) {
  std::vector<IValue> arguments = frame.take_inputs(node);
  const IValue object = arguments.at(0);
  arguments.erase(arguments.begin());
  const std::string& method = node.s(c10::attr::name);
  const bool calls_module = method.starts_with("forward") && object.isModule();
  const std::vector<IValue> held = calls_module ? arguments : std::vector<IValue>{};
  set_outputs(
      node, frame,
      {call_method(object, method, std::move(arguments), scope_of(object.toObjectRef(), frame))});
}

void Walker::run_call_function(const torch::jit::Node& node, Frame& frame) {
  std::vector<IValue> arguments = frame.take_inputs(node);
  arguments.erase(arguments.begin());
  const auto type = node.input(0)->type()->expect<c10::FunctionType>();
  set_outputs(node, frame,
              {call(*type->function(), std::move(arguments), frame.scope, frame.self)});
}

void Walker::run_fork(const torch::jit::Node& node, Frame& frame) {
  const Nesting nesting(depth_);
  const torch::jit::Block& body = *node.g(c10::attr::Subgraph)->block();
  Frame inner(frame.scope, frame.self, locals_of(body));
  std::vector<IValue> arguments = frame.take_inputs(node);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    inner.set(body.inputs().at(i), std::move(arguments[i]));
  run_block(body, inner);
  set_outputs(node, frame, inner.take_inputs(*body.return_node()));
}

void Walker::run_enter(const torch::jit::Node& node, Frame& frame) {
  if (auto region = autocast_region(frame.at(node.input(0)))) {
    add_region(*std::move(region), frame.scope);
    return set_outputs(node, frame, {frame.at(node.input(0))});
  }
  set_outputs(node, frame, {call_method(frame.at(node.input(0)), "__enter__", {}, frame.scope)});
}

void Walker::run_exit(const torch::jit::Node& node, Frame& frame) {
  if (autocast_region(frame.at(node.input(0)))) {
    add_region({.name = "autocast_end", .op = std::string(region_end), .overload = ""},
               frame.scope);
    return set_outputs(node, frame, std::vector<IValue>(node.outputs().size()));
  }
  const IValue result =
      call_method(frame.at(node.input(0)), "__exit__", {IValue(), IValue(), IValue()}, frame.scope);
  if (!node.outputs().empty()) set_outputs(node, frame, {result});
}

// Following calls run inside the region, now and when the graph runs.
void Walker::add_region(symprof::Node marker, ScopeId scope) {
  marker.name = fmt::format("{}_{}", marker.name, graph_.nodes.size());
  marker.scope = scope;
  obey_marker(marker, regions_);
  recorder_.note_releases();
  graph_.nodes.push_back(std::move(marker));
}

void Walker::finish() { enter_decorators({}, 0); }

void Walker::enter_decorators(const Decorators& decorators, ScopeId scope) {
  if (decorators == decorators_) return;
  const auto close = [&](bool is_open) {
    if (is_open)
      add_region({.name = "decorated_end", .op = std::string(region_end), .overload = ""}, scope);
  };
  close(decorators_.no_autocast);
  close(decorators_.no_grad);
  const auto open = [&](bool is_wanted, std::string_view region) {
    if (is_wanted)
      add_region({.name = "decorated",
                  .op = std::string(region),
                  .overload = "",
                  .arguments = {{"enabled", false}}},
                 scope);
  };
  open(decorators.no_grad, region_grad_mode);
  open(decorators.no_autocast, region_autocast);
  decorators_ = decorators;
}

void Walker::run_raise(const torch::jit::Node& node, Frame& frame) {
  throw Error("", fmt::format("the code raises: {}", frame.at(node.input(0)).toStringRef()),
              "The model does not take such inputs.");
}

void Walker::run_operator(const torch::jit::Node& node, Frame& frame) {
  if (node.kind() == c10::prim::PythonOp)
    throw Error("", "is a Python function, whose code the file does not have",
                "Write it with operators of PyTorch, or export the model with torch.export.");
  if (node.maybeOperator() == nullptr)
    throw Error("", "no rule for this node", "Export the model with torch.export instead.");
  const SourceOfNode source = enter_regions(node, frame.scope);
  std::vector<IValue> inputs = frame.take_inputs(node);
  take_constants_as_numbers(node, inputs);
  const std::size_t first = graph_.nodes.size();
  set_outputs(node, frame,
              run_recorded(node, std::move(inputs), recorder_, frame.scope, modules_.dtype()));
  if (options_.traced) note_function(node, first);
  for (std::size_t i = first; i < graph_.nodes.size(); ++i) graph_.nodes[i].source = source.line;
}

/// Opens and closes regions that only Python's stack and lines show, not the trace.
SourceOfNode Walker::enter_regions(const torch::jit::Node& node, ScopeId scope) {
  if (!options_.traced) return {};
  const std::string stack = stack_of(node);
  makes_masks_ |= stack.find("transformers/masking_utils.py(") != stack.npos;
  Decorators regions = decorators_of(stack);
  SourceOfNode source;
  if (options_.sources != nullptr) {
    source = options_.sources->source_of(stack);
    regions.no_grad = source.gradients ? !*source.gradients : regions.no_grad;
    regions.no_autocast |= source.no_autocast;
  }
  enter_decorators(regions, scope);
  return source;
}

void Walker::note_function(const torch::jit::Node& node, std::size_t first) {
  if (first == graph_.nodes.size() || !is_recorded_cast(graph_.nodes.back())) return;
  const auto stack = function_call_of(node);
  if (!stack) return;
  const std::string call = fmt::format("{}\n{}", graph_.nodes.back().scope, *stack);
  const int number = stacks_.try_emplace(call, static_cast<int>(stacks_.size())).first->second;
  function_calls_.emplace(graph_.nodes.back().name, number);
}

void Walker::set_outputs(const torch::jit::Node& node, Frame& frame, std::vector<IValue> results) {
  TORCH_CHECK(results.size() >= node.outputs().size(), "gave ", results.size(), " results, not ",
              node.outputs().size());
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    if (options_.sources == nullptr && frame.may_have_name(*node.outputs()[i]))
      recorder_.may_stay(results[i], frame.scope);
    frame.set(node.outputs()[i], std::move(results[i]));
  }
}

// Constants without data, or with skipped data, are replaced by fake tensors.
IValue Walker::readable(IValue constant) {
  if (!constant.isTensor() || !constant.toTensor().defined()) return constant;
  const at::Tensor& tensor = constant.toTensor();
  if (options_.constants_are_whole && tensor.storage().nbytes() < most_bytes_of_constant)
    return constant;
  const auto [entry, is_new] = unreadable_.try_emplace(tensor.unsafeGetTensorImpl());
  if (is_new) entry->second = meta::make_fake(meta::spec_of(tensor));
  return entry->second;
}

// A module's call of its own method stays in its scope.
ScopeId Walker::scope_of(const c10::ivalue::Object& object, const Frame& caller) {
  if (&object == caller.self) return caller.scope;
  const std::string* path = modules_.path_of(object);
  if (path == nullptr || path->empty()) return caller.scope;
  const int earlier = calls_[*path]++;
  graph_.scopes.push_back({earlier == 0 ? *path : fmt::format("{}@{}", *path, earlier),
                           class_name(*object.type()), caller.scope});
  return static_cast<ScopeId>(graph_.scopes.size()) - 1;
}

std::string Walker::where(const torch::jit::Node& node) const {
  const auto place = node.sourceRange().file_line_col();
  const std::string line =
      place ? fmt::format(", {}:{}", std::get<0>(*place), std::get<1>(*place)) : "";
  return fmt::format("{}: node {}{}", graph_.path, node.kind().toQualString(), line);
}

}  // namespace symprof::trace::torchscript
