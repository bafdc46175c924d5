#include <algorithm>
#include <iterator>

#include "plan/checkpoint/answers.h"
#include "plan/checkpoint/knee.h"
#include "report/plan/checkpoint.h"
#include "report/plan/checkpoint_text.h"
#include "report/profile/timeline_svg.h"
#include "report/write/format_number.h"
#include "session/checkpoint_answer.h"

namespace symprof::report {
namespace {

constexpr double width = 860, height = 320, margin = 70;

/// The position of a curve's point in the drawing.
class Scale {
 public:
  explicit Scale(const CheckpointAnswer& answer) {
    for (const plan::PlanAnswer& point : answer.curve) add(point.best);
    for (const plan::AlternativePlan& one : answer.alternatives) add(one.simulated);
  }

  double x(const plan::SimulatedPlan& simulated) const {
    const double all = std::max(most_bytes_ - least_bytes_, 1.0);
    return margin + (width - 2 * margin) * (bytes(simulated) - least_bytes_) / all;
  }
  double y(const plan::SimulatedPlan& simulated) const {
    return height - margin - (height - 2 * margin) * simulated.cost_us / std::max(most_us_, 1e-9);
  }
  double least_bytes() const { return least_bytes_; }
  double most_bytes() const { return most_bytes_; }
  double most_us() const { return most_us_; }

 private:
  static double bytes(const plan::SimulatedPlan& simulated) {
    return static_cast<double>(simulated.peaks.reserved_bytes);
  }
  void add(const std::optional<plan::SimulatedPlan>& simulated) {
    if (!simulated) return;
    least_bytes_ =
        least_bytes_ == 0 ? bytes(*simulated) : std::min(least_bytes_, bytes(*simulated));
    most_bytes_ = std::max(most_bytes_, bytes(*simulated));
    most_us_ = std::max(most_us_, simulated->cost_us);
  }

  double least_bytes_ = 0, most_bytes_ = 0, most_us_ = 0;
};

void write_curve_svg(fmt::memory_buffer& out, const CheckpointAnswer& answer) {
  const auto at = std::back_inserter(out);
  const Scale scale(answer);
  const std::size_t knee = plan::knee_of(answer.curve);
  fmt::format_to(at, "<svg viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n",
                 width, height);
  fmt::format_to(at,
                 "<path d=\"M{0} {0}V{1}H{2}\" fill=\"none\" stroke=\"#888\"/>\n"
                 "<text x=\"{0}\" y=\"{3}\">{4}</text><text x=\"{2}\" y=\"{3}\" "
                 "text-anchor=\"end\">{5} reserved</text><text x=\"{0}\" y=\"{6}\">{7} more "
                 "time</text>\n",
                 margin, height - margin, width - margin, height - margin + 18,
                 format_bytes(static_cast<std::int64_t>(scale.least_bytes())),
                 format_bytes(static_cast<std::int64_t>(scale.most_bytes())), margin - 10,
                 format_time(scale.most_us()));
  std::string line;
  for (const plan::PlanAnswer& point : answer.curve)
    if (point.best)
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", scale.x(*point.best),
                          scale.y(*point.best));
  fmt::format_to(at, "<path d=\"{}\" fill=\"none\" stroke=\"#2b6cb0\" stroke-width=\"2\"/>\n",
                 line);
  for (std::size_t i = 0; i < answer.curve.size(); ++i) {
    const plan::PlanAnswer& point = answer.curve[i];
    if (!point.best) continue;
    fmt::format_to(at,
                   "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"#2b6cb0\"><title>{}, {} "
                   "more</title></circle>\n",
                   scale.x(*point.best), scale.y(*point.best), i == knee ? 6 : 3,
                   format_bytes(point.best->peaks.reserved_bytes),
                   format_time(point.best->cost_us));
    if (i == knee)
      fmt::format_to(at, "<text x=\"{:.1f}\" y=\"{:.1f}\">knee</text>\n", scale.x(*point.best) + 8,
                     scale.y(*point.best) - 8);
  }
  for (const plan::AlternativePlan& one : answer.alternatives)
    if (one.simulated)
      fmt::format_to(at,
                     "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\" fill=\"#c05621\"/><text "
                     "x=\"{2:.1f}\" y=\"{3:.1f}\" fill=\"#c05621\">{4}</text>\n",
                     scale.x(*one.simulated), scale.y(*one.simulated), scale.x(*one.simulated) + 6,
                     scale.y(*one.simulated) + 12, escaped(one.name));
  fmt::format_to(at, "</svg>\n");
}

}  // namespace

void write_checkpoint_html(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           SettingSpeller spell) {
  const auto at = std::back_inserter(out);
  fmt::format_to(at,
                 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Plan of "
                 "{}</title>\n<style>body{{max-width:70em;margin:2em auto;font-family:sans-serif}}"
                 "pre{{overflow-x:auto}}</style></head><body>\n<h1>{}</h1>\n",
                 escaped(answer.model), escaped(answer.model));
  if (!answer.curve.empty()) write_curve_svg(out, answer);
  fmt::memory_buffer text;
  write_checkpoint_plan(text, answer, {.spell = spell});
  fmt::format_to(at, "<pre>{}</pre>\n</body></html>\n", escaped({text.data(), text.size()}));
}

}  // namespace symprof::report
