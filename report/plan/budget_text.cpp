#include "report/plan/budget_text.h"

#include <fmt/format.h>

#include "base/setting.h"
#include "report/write/format_number.h"

namespace symprof::report {

std::string context_text(const plan::Budget& budget) {
  return fmt::format("{} {} for CUDA's context{}", format_bytes(budget.context_bytes),
                     budget.is_context_given ? "given" : "set aside",
                     budget.is_context_given
                         ? ""
                         : fmt::format(" (not measured; {} sets it)", setting("context")));
}

std::string budget_text(const plan::Budget& budget, std::int64_t set_aside_bytes) {
  std::string text = fmt::format("{} of {}; {}", format_bytes(budget.available_bytes()),
                                 format_bytes(budget.device_bytes), context_text(budget));
  if (set_aside_bytes > 0)
    text += fmt::format("; {} of it set aside as the peak is a lower bound",
                        format_bytes(set_aside_bytes));
  return text;
}

}  // namespace symprof::report
