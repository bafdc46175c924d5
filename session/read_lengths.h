// Lengths of a run's samples, or the shapes of its batches, read from a file or from text.
#pragma once

#include <cstdint>
#include <string>

#include "session/run_question.h"

namespace symprof::settings {

/// Reads "lognormal:median=200,sigma=0.7,max=1024,count=2000", or a file by its ending:
/// - .csv: a column `length`, with `count` a histogram; or `batch` and `length`, the shapes;
/// - .json: a list of lengths, or of pairs [batch, length], or a histogram {"length": count};
/// - .npy: whole numbers, one axis of lengths or rows of shapes.
/// Throws Error about the setting "lengths", or the line of the file.
RunData read_lengths(const std::string& given);

/// Reads "tokens=8192" or "samples=4" into a rule. Throws Error.
void read_batch_by(plan::BatchRule& rule, const std::string& given);

}  // namespace symprof::settings
