// The device, an H200, and a cuBLAS that only succeeds.
#include "shared.h"

#include "../../h200/device_answers.h"
