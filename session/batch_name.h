// The name of a model's batch dimension in settings.
#pragma once

#include <string>

#include "session/session.h"

namespace symprof {

/// The name of the batch for set_size(); empty where the model's batch is fixed.
std::string batch_to_find(Session& session, Settings settings);

}  // namespace symprof
