// Matches an option's patterns against module calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// True if `pattern` matches `path`; `*` stands for any text of one component ("encoder.layers.*"),
/// `?` for a character.
bool matches_path(const std::string& pattern, const std::string& path);
/// True if `pattern` matches `path` or an enclosing module.
bool matches_path_or_above(const std::string& pattern, const std::string& path);

/// For each scope of `graph`, the outermost enclosing scope (or itself) whose path matches one of
/// `patterns`; 0 if none. Throws Error for a pattern that no module matches; `setting_name` is the
/// setting that has them ("checkpoint").
std::vector<ScopeId> matched_scopes(const Graph& graph, const std::vector<std::string>& patterns,
                                    std::string_view setting_name);

/// The path of a scope without the call number (a second call's path ends in "@1").
std::string module_path(const Scope& scope);

/// Patterns that match more than one module of one type ("encoder.layers.*"), those with the most
/// nodes first: typical modules to checkpoint.
std::vector<std::string> repeated_modules(const Graph& graph);

}  // namespace symprof::trace
