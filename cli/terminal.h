// The destinations of standard output and standard error.
#pragma once

#include "report/write/layout.h"

namespace symprof::cli {

enum class Stream : int { output = 1, error = 2 };

bool is_terminal(Stream stream);

/// Color and width of `stream`: the terminal's (NO_COLOR and TERM=dumb switch color off), none for
/// a file or a pipe.
report::Layout layout_of(Stream stream);

/// True if the locale has a charset other than UTF-8 (LC_ALL=C). Without a charset UTF-8 is
/// assumed.
bool has_plain_letters_only();

}  // namespace symprof::cli
