// Paths of modules: "encoder.layers.0.mlp".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace symprof {

/// The first `depth` components of `path`: "encoder.layers" at 2.
inline std::string_view path_prefix(std::string_view path, int depth) {
  std::size_t end = 0;
  for (int i = 0; i < depth && end != std::string_view::npos; ++i)
    end = path.find('.', i == 0 ? 0 : end + 1);
  return depth == 0 ? std::string_view() : path.substr(0, end);
}

/// A pattern for modules whose paths differ only in numbers: "encoder.layers.*.fc" for
/// "encoder.layers.11.fc".
std::string without_numbers(std::string_view path);

}  // namespace symprof
