// The job of a model (samples, prices, deadline), read from text.
#pragma once

#include <string>

#include "plan/rent.h"

namespace symprof::settings {

/// Texts of the options; empty where not given.
struct JobTexts {
  std::string price;     ///< The path of a file.
  std::string samples;   ///< "1e6".
  std::string deadline;  ///< "3d".
};

/// Throws Error about the text that is wrong, and as plan::load_prices.
plan::Job read_job(const JobTexts& texts);

}  // namespace symprof::settings
