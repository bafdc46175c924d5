#include "session/measure/real_device.h"

#include "base/error.h"

namespace symprof {

std::string parse_real_device(const std::string& text) {
  if (text == "cpu") return text;
  const std::string number = text == "cuda" ? "0" : text.substr(text.find(':') + 1);
  const bool is_number = !number.empty() && number.size() < 3 &&
                         number.find_first_not_of("0123456789") == std::string::npos;
  if ((text != "cuda" && !text.starts_with("cuda:")) || !is_number)
    throw Error(SettingRef{"device"}, "'" + text + "' is no device that a step can run on.",
                "It may be: cpu, cuda, cuda:N.");
  return "cuda:" + number;
}

}  // namespace symprof
