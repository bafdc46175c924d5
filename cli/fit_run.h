// The part of symprof fit that is about a run whose batches differ.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/formats.h"
#include "cli/option_group.h"
#include "cli/output.h"
#include "session/session.h"

namespace symprof::cli {

/// Texts of its options; empty where not given.
struct RunText {
  std::string lengths, batch_by, bucket, pad_to_multiple, shuffle_seed, shuffles;
  std::string batch_dim, length_dim;
  std::vector<std::string> between;
  bool without_trials = false;
};

void add_run_options(CLI::App& app, RunText& text);

/// Throws Error for an option that is about such a run where none is asked about.
void refuse_run_options(const RunText& text);

/// Answers and writes. `largest`: what --max says.
ExitCode fit_run(Session& session, const Settings& settings, const RunText& text,
                 const std::string& largest, Format format, const OutputOptions& output);

}  // namespace symprof::cli
