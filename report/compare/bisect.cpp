#include "report/compare/bisect.h"

#include <iterator>

namespace symprof::report {
namespace bisect_text {

void write_part(fmt::memory_buffer& out, const workbench::BisectPart& part,
                const std::string& prefix, char side) {
  fmt::format_to(std::back_inserter(out), "{}  {} nodes, inputs in {}\n",
                 model_of_part(prefix, side), part.nodes, inputs_of_part(prefix, side));
}

}  // namespace bisect_text

void write_bisect(fmt::memory_buffer& out, const BisectAnswer& answer, const std::string& prefix) {
  const auto at = std::back_inserter(out);
  if (!answer.found) {
    fmt::format_to(at, "outputs agree within {:g}: there is nothing to look for\n",
                   answer.tolerance);
    return;
  }
  const workbench::Bisected& found = *answer.found;
  if (found.is_whole) fmt::format_to(at, "no part alone differs: these are the whole models\n");
  const std::string& other = found.difference.other;
  fmt::format_to(at, "{} of A and {} of B differ by {:.3g}, {:.3g} relative{}{}\n", found.result_a,
                 found.result_b, found.difference.absolute, found.difference.relative,
                 other.empty() ? "" : ": ", other);
  bisect_text::write_part(out, found.a, prefix, 'a');
  bisect_text::write_part(out, found.b, prefix, 'b');
}

}  // namespace symprof::report
