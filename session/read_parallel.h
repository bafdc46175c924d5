// The text of the setting `parallel`.
#pragma once

#include <string>

#include "record/parallel_options.h"

namespace symprof::settings {

/// Parses "fsdp=8", "fsdp=8:keep:param=bf16", "hsdp=2x4 tp=4:sp", "pp=4:1f1b:mb=16". Throws Error
/// with the accepted forms.
ParallelOptions parse_parallel(const std::string& given);

}  // namespace symprof::settings
