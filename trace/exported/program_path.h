// The name of a program in an archive of several: "model.pt2:decode".
#pragma once

#include <string>

namespace symprof::trace::exported {

struct ProgramPath {
  std::string file;
  std::string program;  ///< Empty: not given.
};

/// A path that exists is a file; otherwise what follows its last colon is the program's name, if
/// what stands before it exists.
ProgramPath program_path(const std::string& path);

}  // namespace symprof::trace::exported
