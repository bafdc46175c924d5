#include <cstdio>
#include <cstdlib>

#include "cli/program.h"

int main(int argc, char** argv) {
  const int code = symprof::cli::run_program(argc, argv);
  std::fflush(nullptr);
  // Neither waits for a library that is still loading nor runs LibTorch's destructors: all output
  // is written.
  std::_Exit(code);
}
