#include "session/inference_settings.h"

#include "session/setting_table.h"

namespace symprof {

Settings inference_settings(const std::vector<std::string>& sizes,
                            const std::vector<std::string>& shapes) {
  Settings settings;
  settings.mode = Mode::inference;
  for (const std::string& size : sizes) settings::set(settings, "sizes", size);
  for (const std::string& shape : shapes) settings::set(settings, "inputs", shape);
  return settings;
}

}  // namespace symprof
