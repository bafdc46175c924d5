// What standard output and standard error are connected to.
#pragma once

#include "report/write/layout.h"

namespace symprof::cli {

enum class Stream : int { output = 1, error = 2 };

bool is_terminal(Stream stream);

/// Colour and width of `stream`: those of a terminal (NO_COLOR and TERM=dumb switch colour off),
/// none for a file or a pipe.
report::Layout layout_of(Stream stream);

/// Whether the locale names another charset than UTF-8 (LC_ALL=C). Where it names none, UTF-8 is
/// taken to be there.
bool has_plain_letters_only();

}  // namespace symprof::cli
