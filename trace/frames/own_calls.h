// What a line of Python calls itself, as far as its text tells. Whatever else ran while a function
// was at the line ran in other functions.
#pragma once

#include <string_view>
#include <vector>

namespace symprof::trace {

/// How often `word` stands in `text` as a whole word.
int count_word(std::string_view text, std::string_view word);

/// The attribute that holds a module, from its path: "fc" of "block.fc.0"; empty for the root.
std::string_view attribute_of(std::string_view path);

/// How often `line` uses an attribute called `name`: in `x = self.x(x)` once.
int uses_of_attribute(std::string_view line, std::string_view name);

/// `self.helper(x)` runs whatever modules the helper calls.
bool calls_method_of_self(std::string_view line);

/// `super().forward(x)` and `self.block.forward(x)` call a function named forward, but no module:
/// what it runs belongs to the module that runs.
bool calls_forward_itself(std::string_view line);

/// How often `line` calls a function named forward so.
int count_calls_of_forward(std::string_view line);

/// Whether `line` returns what another function makes of all that this one was given:
/// `return super().__call__(*args, **kwargs)`, `return function(self, *args, **kwargs)`.
bool hands_on_arguments(std::string_view line);

/// Whether `line` gives something to a method that keeps what it is given: `cache.update(key)`,
/// `queue.push(x)`. Its object may hold it as long as the step goes on.
bool gives_to_keeper(std::string_view line);

/// "linear" of "linear_1;builtin_function_or_method.linear", a Node::call; "__getitem__" of
/// "__getitem___2".
std::string_view function_of(std::string_view call);

/// How often `line` itself calls a function of PyTorch: by its name, or by an operator, `a @ b` or
/// `x[0]`.
int times_called(std::string_view line, std::string_view function);

/// Whether one run of `line` calls the function, which it may have another name for, once: it is no
/// loop of its own.
bool calls_once(std::string_view line, std::string_view function);

/// Whether all that `line` calls by a name are among `functions`, or give no tensor: `range(3)`.
bool names_no_other_call(std::string_view line, const std::vector<std::string_view>& functions);

/// Whether `line` itself makes the call that an exporter names `call` (Node::call).
bool calls_function(std::string_view line, std::string_view call);

/// Whether `line` itself calls the module at `path`: by its attribute, or by a name of its own
/// where the module is an element of a list, `x = layer(x)`.
bool calls_module(std::string_view line, std::string_view path);

/// Whether `call` is a function of PyTorch that is written in Python, and so has a frame of its
/// own: torch.export says so.
bool has_frame(std::string_view call);

}  // namespace symprof::trace
