#include "shape/propagate.h"
