// A collective is a part of a rank's recording.
//
// Public header.
#pragma once

#include "record/collective.h"
