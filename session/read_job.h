// What is to be done with a model, read from text.
#pragma once

#include <string>

#include "plan/rent.h"

namespace symprof::settings {

/// Empty where nothing was given.
struct JobTexts {
  std::string price;     ///< The path of a file.
  std::string samples;   ///< "1e6".
  std::string deadline;  ///< "3d".
};

/// Throws Error about the text that is wrong, and as plan::load_prices.
plan::Job read_job(const JobTexts& texts);

}  // namespace symprof::settings
