#include "session/read_job.h"

#include "session/read_text.h"

namespace symprof::settings {

plan::Job read_job(const JobTexts& texts) {
  plan::Job job;
  if (!texts.samples.empty()) job.samples = parse_amount(SettingRef{"samples"}, texts.samples);
  if (!texts.deadline.empty())
    job.deadline_seconds = parse_duration(SettingRef{"deadline"}, texts.deadline);
  if (!texts.price.empty()) job.prices = plan::load_prices(texts.price);
  return job;
}

}  // namespace symprof::settings
