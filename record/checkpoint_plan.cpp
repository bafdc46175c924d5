#include "record/checkpoint_plan.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace symprof {

std::string to_string(const KeptCall& call) { return fmt::format("{}#{}", call.op, call.index); }

KeptCall parse_kept_call(const std::string& text) {
  const std::size_t mark = text.rfind('#');
  KeptCall call{.op = text.substr(0, mark)};
  if (mark != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + mark + 1, end, call.index);
    if (error == std::errc() && stop == end && call.index >= 0 && !call.op.empty()) return call;
  }
  throw Error("", fmt::format("'{}' names no call", text),
              "Write the operator and how many of it come before: aten::addmm#0.");
}

}  // namespace symprof
