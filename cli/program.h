// The program: finds the command, runs it, and reports errors.
#pragma once

namespace symprof::cli {

/// Runs the command of these words, the first of which is the program's name; the exit code. Throws
/// nothing: errors are printed.
int run_program(int argc, char** argv);

}  // namespace symprof::cli
