// Which calls of modules the patterns of an option mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Whether `pattern` is `path`; `*` stands for any text of one component ("encoder.layers.*"), `?`
/// for a character.
bool matches_path(const std::string& pattern, const std::string& path);
/// Whether `pattern` matches `path` or a module around it.
bool matches_path_or_above(const std::string& pattern, const std::string& path);

/// For each scope of `graph` the outermost one around it, or itself, whose path matches one of
/// `patterns`; 0 where none does. Throws Error for a pattern that no module matches;
/// `setting_name` is the setting that has them ("checkpoint").
std::vector<ScopeId> matched_scopes(const Graph& graph, const std::vector<std::string>& patterns,
                                    std::string_view setting_name);

/// The path of a scope without the number of the call: a second one has a path that ends in "@1".
std::string module_path(const Scope& scope);

/// Patterns that match more than one module of one type ("encoder.layers.*"), those of the most
/// nodes first: the modules that people checkpoint.
std::vector<std::string> repeated_modules(const Graph& graph);

}  // namespace symprof::trace
