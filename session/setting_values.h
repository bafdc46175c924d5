// Values of settings as JSON prints them.
#pragma once

#include <optional>
#include <string>

#include "session/mesh.h"
#include "session/setting_names.h"
#include "session/setting_value.h"
#include "session/settings.h"

namespace symprof::settings {

inline std::string text(std::string_view name) { return std::string(name); }

inline Value dtype_value(std::optional<DType> dtype) {
  return dtype ? Value(text(symprof::name(*dtype))) : Value();
}

inline Value parallel_value(const Settings& settings) {
  const std::optional<ParallelOptions>& parallel = settings.step.parallel;
  return parallel ? Value(parallel->text) : Value();
}

inline Value matmul_precision_value(const Settings& settings) {
  const std::optional<MatmulPrecision>& precision = settings.step.float32_matmul_precision;
  return precision ? Value(text(name_of(matmul_precisions, *precision))) : Value();
}

inline Value assumed_saved_value(const Settings& settings) {
  const AssumedSaved saved = settings.step.assume_saved;
  return saved == AssumedSaved::unknown ? Value() : Value(text(name_of(assumed_saved, saved)));
}

inline Value mesh_value(const Settings& settings) {
  return settings.mesh ? Value(text_of(*settings.mesh)) : Value();
}

}  // namespace symprof::settings
