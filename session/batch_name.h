// How settings name the batch of a model.
#pragma once

#include <string>

#include "session/session.h"

namespace symprof {

/// As set_size() takes it; empty where the model has no batch that could be another one.
std::string batch_to_find(Session& session, Settings settings);

}  // namespace symprof
