// Records inputs and outputs of a C++ program's module calls in a dump:
//
//   Dump dump;
//   at::Tensor y = dump.call("decoder.norm_1", decoder->norm_1, x);
//   dump.save("decoder.onnx");
//
// Public header.
#pragma once

#include <ATen/core/Tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/dump/dump.h"

namespace symprof {

class Dump {
 public:
  using Value = trace::dump::Value;

  /// Inputs, outputs or weights of one call beyond `limit_bytes` are omitted, and noted.
  explicit Dump(std::int64_t limit_bytes = std::int64_t{1} << 27) : limit_bytes_(limit_bytes) {}

  /// Calls a module, a module holder, a pointer to one (its `forward`) or any function with the
  /// arguments, keeps copies of the arguments (before the call) and of the result, and returns the
  /// result. Arguments and results: tensors, numbers, bools, strings, and std::optional, vector,
  /// tuple, pair and map of these. An undefined tensor is None. Calls of one name are numbered.
  /// Throws what the call throws (its inputs are kept). Throws Error for a tensor without data.
  template <class Callable, class... Arguments>
  decltype(auto) call(const std::string& name, Callable&& callable, Arguments&&... arguments) {
    const std::int64_t iteration = begin(name, {value_of(arguments)...});
    const auto run = [&]() -> decltype(auto) {
      if constexpr (std::invocable<Callable&, Arguments&&...>)
        return std::invoke(callable, std::forward<Arguments>(arguments)...);
      else if constexpr (requires { callable->forward(std::forward<Arguments>(arguments)...); })
        return callable->forward(std::forward<Arguments>(arguments)...);
      else
        return callable.forward(std::forward<Arguments>(arguments)...);
    };
    if constexpr (std::is_void_v<decltype(run())>) {
      run();
      end(name, iteration, {});
    } else {
      decltype(auto) answer = run();
      end(name, iteration, value_of(answer));
      return answer;
    }
  }

  /// Keeps the parameters and buffers of a module, by their names.
  template <class Module>
  void keep_weights(const std::string& name, const Module& module) {
    std::vector<std::pair<std::string, Value>> weights;
    for (const auto& item : module.named_parameters())
      weights.emplace_back(item.key(), value_of(item.value()));
    for (const auto& item : module.named_buffers())
      weights.emplace_back(item.key(), value_of(item.value()));
    add_weights(name, std::move(weights));
  }

  /// Keeps any other value. A second value of one name is called "name_1".
  template <class T>
  void keep(const std::string& name, const T& value) {
    add_other(name, value_of(value));
  }

  const trace::dump::Dump& contents() const { return dump_; }

  /// Writes the file atomically, with DUMP.onnx.data beside it from 2 GiB on. Throws Error if that
  /// fails, and for a dtype that ONNX does not have.
  void save(const std::string& path) const;

 private:
  std::int64_t begin(const std::string& name, std::vector<Value> arguments);
  void end(const std::string& name, std::int64_t iteration, Value answer);
  void add_weights(const std::string& name, std::vector<std::pair<std::string, Value>> weights);
  void add_other(const std::string& name, Value value);
  void add(trace::dump::Entry entry);

  static Value value_of(const at::Tensor& tensor);
  static Value value_of(const std::string& text) { return trace::dump::text_value(text); }
  static Value value_of(const char* text) { return trace::dump::text_value(text); }
  static Value value_of(std::integral auto number) {
    if constexpr (std::same_as<decltype(number), bool>) return trace::dump::boolean_value(number);
    return trace::dump::integer_value(static_cast<std::int64_t>(number));
  }
  static Value value_of(std::floating_point auto number) {
    return trace::dump::real_value(static_cast<double>(number));
  }
  static Value value_of(std::nullopt_t) { return {}; }
  template <class T>
  static Value value_of(const std::optional<T>& maybe) {
    return maybe ? value_of(*maybe) : Value();
  }
  template <class T>
  static Value value_of(const std::vector<T>& list) {
    Value value = trace::dump::container_value(trace::dump::Kind::list);
    for (const auto& item : list) value.items.push_back(value_of(item));
    return value;
  }
  template <class... T>
  static Value value_of(const std::tuple<T...>& tuple) {
    return std::apply(
        [](const auto&... items) {
          return trace::dump::container_value(trace::dump::Kind::tuple, {value_of(items)...});
        },
        tuple);
  }
  template <class A, class B>
  static Value value_of(const std::pair<A, B>& pair) {
    return trace::dump::container_value(trace::dump::Kind::tuple,
                                        {value_of(pair.first), value_of(pair.second)});
  }
  template <class T>
  static Value value_of(const std::map<std::string, T>& entries) {
    Value value = trace::dump::container_value(trace::dump::Kind::dictionary);
    for (const auto& [key, item] : entries) {
      value.keys.push_back(key);
      value.items.push_back(value_of(item));
    }
    return value;
  }

  std::int64_t limit_bytes_;
  trace::dump::Dump dump_;
  std::map<std::string, std::int64_t> iterations_;
};

}  // namespace symprof
