// The formulas of a model, and the figures that they describe.
#pragma once

#include "report/formulas/formula_figures.h"
#include "session/formulas.h"

namespace symprof::report {

/// The formulas, and the figures that they describe.
struct FormulaReport : FormulaAnswer {
  FigureList list;
};

}  // namespace symprof::report
