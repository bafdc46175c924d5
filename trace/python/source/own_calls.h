// Finds the calls that a line of Python makes itself, as far as its text shows. Everything else
// that ran during the line ran in other functions.
#pragma once

#include <string_view>
#include <vector>

namespace symprof::trace {

/// The attribute that holds a module, from its path: "fc" of "block.fc.0"; empty for the root.
std::string_view attribute_of(std::string_view path);

/// How often `line` uses an attribute called `name`: in `x = self.x(x)` once.
int uses_of_attribute(std::string_view line, std::string_view name);

/// `self.helper(x)` runs whatever modules the helper calls.
bool calls_method_of_self(std::string_view line);

/// `super().forward(x)` and `self.block.forward(x)` call a function named forward, but no module:
/// its nodes belong to the module that is running.
bool calls_forward_itself(std::string_view line);

/// How often `line` calls a function named forward so.
int count_calls_of_forward(std::string_view line);

/// True if `line` only forwards all arguments to another function: `return super().__call__(*args,
/// **kwargs)`, `return function(self, *args, **kwargs)`.
bool hands_on_arguments(std::string_view line);

/// True if `line` calls a method that stores its argument: `cache.update(key)`, `queue.push(x)`.
/// Its object may keep it until the step ends.
bool gives_to_keeper(std::string_view line);

/// "linear" of "linear_1;builtin_function_or_method.linear", a Node::call; "__getitem__" of
/// "__getitem___2".
std::string_view function_of(std::string_view call);

/// How often `line` itself calls a function of PyTorch: by name, or by an operator, `a @ b` or
/// `x[0]`.
int times_called(std::string_view line, std::string_view function);

/// True if one run of `line` calls the function, perhaps by another name, exactly once: it contains
/// no loop.
bool calls_once(std::string_view line, std::string_view function);

/// True if every call of `line` is one of `functions`, or returns no tensor: `range(3)`.
bool names_no_other_call(std::string_view line, const std::vector<std::string_view>& functions);

/// True if `line` itself makes the call that an exporter names `call` (Node::call).
bool calls_function(std::string_view line, std::string_view call);

/// True if `line` itself calls the module at `path`: by its attribute, or by a local name if the
/// module is an element of a list, `x = layer(x)`.
bool calls_module(std::string_view line, std::string_view path);

/// True if `call` is a PyTorch function written in Python, which has a frame of its own, as
/// torch.export says.
bool has_frame(std::string_view call);

}  // namespace symprof::trace
