#include "report/profile/roofline_svg.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <vector>

#include "report/profile/names.h"
#include "report/profile/timeline_svg.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

/// All calls of an operator in a pass.
struct OperatorSum {
  double flops = 0, bytes = 0, us = 0;
  std::int64_t calls = 0;
  std::map<profile::Limit, double> limits_us;

  double intensity() const { return flops / bytes; }
  double rate() const { return flops / us * 1e6; }
  profile::Limit limit() const {
    return std::ranges::max_element(limits_us, {}, [](const auto& one) { return one.second; })
        ->first;
  }
};

struct Dot {
  std::string name;
  OperatorSum sum;
};

struct Dots {
  std::vector<Dot> drawn;  ///< The longest first.
  double without_flops_us = 0, others_us = 0, busy_us = 0;
};

std::string_view pass_of(Phase phase) {
  if (phase == Phase::forward || phase == Phase::loss) return "forward";
  return phase == Phase::optimizer ? "optimizer" : "backward";
}

Dots dots_of(const Profile& profile) {
  constexpr std::size_t most = 24;
  std::map<std::pair<std::string, std::string_view>, OperatorSum> sums;
  Dots dots;
  for (const NodeProfile& node : profile.nodes)
    for (const CallProfile& call : node.calls) {
      if (!call.time || call.time->us <= 0) continue;
      const CallRecord& record = profile.recording.calls[call.call];
      OperatorSum& sum = sums[{profile.recording.ops[record.op], pass_of(record.phase)}];
      sum.flops += static_cast<double>(call.cost.product_flops + call.cost.other_flops);
      sum.bytes += static_cast<double>(call.cost.bytes_read + call.cost.bytes_written);
      sum.us += call.time->us, ++sum.calls;
      sum.limits_us[call.time->limit] += call.time->us;
      dots.busy_us += call.time->us;
    }
  for (const auto& [name, sum] : sums)
    if (sum.flops > 0 && sum.bytes > 0)
      dots.drawn.push_back({fmt::format("{}, {}", name.first, name.second), sum});
    else
      dots.without_flops_us += sum.us;
  std::ranges::stable_sort(dots.drawn, std::greater(), [](const Dot& dot) { return dot.sum.us; });
  for (std::size_t i = most; i < dots.drawn.size(); ++i) dots.others_us += dots.drawn[i].sum.us;
  if (dots.drawn.size() > most) dots.drawn.resize(most);
  return dots;
}

constexpr struct {
  int width = 1100, height = 420, left = 96, right = 20, top = 16, bottom = 44;
  constexpr int plot_width() const { return width - left - right; }
  constexpr int plot_height() const { return height - top - bottom; }
} roof;

/// An axis of powers of ten that has room for `low` to `high`.
struct Decades {
  int first = 0, last = 1;

  Decades(double low, double high)
      : first(static_cast<int>(std::floor(std::log10(low)))),
        last(std::max(first + 1, static_cast<int>(std::ceil(std::log10(high))))) {}
  double share(double value) const { return (std::log10(value) - first) / (last - first); }
};

std::string_view color_of(profile::Limit limit) {
  switch (limit) {
    case profile::Limit::arithmetic:
      return "#e45756";
    case profile::Limit::cache:
      return "#f2a541";
    case profile::Limit::memory:
      return "#4c78a8";
    default:
      return "#8c8c8c";
  }
}

/// "100 TFLOP"
std::string power_of_ten(int power) {
  const std::string_view units[] = {"", "k", "M", "G", "T", "P", "E"};
  const int unit = std::clamp(power / 3, 0, 6);
  return fmt::format("{:g} {}FLOP", std::pow(10, power - 3 * unit), units[unit]);
}

class RooflineDrawing {
 public:
  RooflineDrawing(fmt::memory_buffer& out, const Dots& dots, const DeviceSpec& device)
      : out_(out),
        dots_(dots),
        device_(device),
        bandwidth_(*device.memory_bytes_per_second),
        x_(lowest(&OperatorSum::intensity), std::max(highest(&OperatorSum::intensity), ridge())),
        y_(lowest(&OperatorSum::rate), std::max(highest(&OperatorSum::rate), highest_peak())) {}

  void run() {
    print(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="Operators under the roofline">)"
          "\n",
          roof.width, roof.height);
    draw_grid();
    draw_roofs();
    for (const Dot& dot : dots_.drawn) draw(dot);
    print("</svg>\n");
  }

 private:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  template <class Value>
  double lowest(Value value) const {
    double least = INFINITY;
    for (const Dot& dot : dots_.drawn) least = std::min(least, (dot.sum.*value)());
    return least;
  }

  template <class Value>
  double highest(Value value) const {
    double most = 0;
    for (const Dot& dot : dots_.drawn) most = std::max(most, (dot.sum.*value)());
    return most;
  }

  double highest_peak() const {
    double most = 1;
    for (const auto& [dtype, rate] : device_.flops_per_second) most = std::max(most, rate);
    return most;
  }

  /// The intensity at which the bandwidth's line meets the highest peak.
  double ridge() const { return highest_peak() / bandwidth_; }

  double x(double intensity) const { return roof.left + roof.plot_width() * x_.share(intensity); }
  double y(double rate) const { return roof.top + roof.plot_height() * (1 - y_.share(rate)); }

  void draw_grid() {
    for (int power = x_.first; power <= x_.last; ++power)
      print(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" class="grid"/>)"
            R"(<text x="{0:.1f}" y="{3}" text-anchor="middle" class="share">{4:g}</text>)"
            "\n",
            x(std::pow(10, power)), roof.top, roof.height - roof.bottom,
            roof.height - roof.bottom + 16, std::pow(10, power));
    for (int power = y_.first; power <= y_.last; ++power)
      print(R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="grid"/>)"
            R"(<text x="{}" y="{:.1f}" class="axis">{}/s</text>)"
            "\n",
            roof.left, roof.width - roof.right, y(std::pow(10, power)), y(std::pow(10, power)),
            roof.left - 8, y(std::pow(10, power)) + 4, power_of_ten(power));
    print(R"(<text x="{}" y="{}" text-anchor="end" class="share">FLOPs per byte</text>)"
          "\n",
          roof.width - roof.right, roof.height - 8);
  }

  /// One level for types of the same rate.
  void draw_roofs() {
    std::map<double, std::string> peaks;
    for (const auto& [dtype, rate] : device_.flops_per_second) {
      if (rate <= 0) continue;
      std::string& names = peaks[rate];
      names += (names.empty() ? "" : ", ") + dtype;
    }
    const double from = std::pow(10, x_.first), to = std::pow(10, x_.last);
    for (const auto& [rate, names] : peaks) {
      const double begin = std::max(from, rate / bandwidth_);
      if (begin >= to || y_.share(rate) < 0) continue;
      print(R"(<line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" class="peak"/>)"
            "\n",
            x(begin), x(to), y(rate), y(rate));
      write_label(roof.width - roof.right - 4, y(rate) - 4, "end",
                  fmt::format("{} {}/s", names, format_count(std::llround(rate), "FLOP")));
    }
    const double low = std::max(from, std::pow(10, y_.first) / bandwidth_);
    print(R"(<line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" class="peak"/>)"
          R"(<text x="{:.1f}" y="{:.1f}">{}B/s of memory</text>)"
          "\n",
          x(low), x(ridge()), y(low * bandwidth_), y(highest_peak()), x(low) + 26,
          y(low * bandwidth_) - 4, format_count(std::llround(bandwidth_), ""));
  }

  /// The longest operators have labels; all have tooltips.
  void draw(const Dot& dot) {
    constexpr int named = 6;
    const double share = dot.sum.us / dots_.busy_us;
    const double radius = 3 + 30 * std::sqrt(share);
    const double at_x = x(dot.sum.intensity()), at_y = y(dot.sum.rate());
    print(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" fill-opacity="0.6">)"
          "<title>{}: {} in {} calls, {:.1f} % of the time; {}/s at {:.3g} FLOPs per byte, {}"
          "</title></circle>\n",
          at_x, at_y, radius, color_of(dot.sum.limit()), escaped(dot.name), format_time(dot.sum.us),
          group_digits(dot.sum.calls), 100 * share,
          format_count(std::llround(dot.sum.rate()), "FLOP"), dot.sum.intensity(),
          profile::name(dot.sum.limit()));
    if (&dot - dots_.drawn.data() >= named) return;
    const bool is_right = at_x > roof.width * 0.7;
    write_label(is_right ? at_x - radius - 4 : at_x + radius + 4, at_y + 4,
                is_right ? "end" : "start", fmt::format("{} {:.0f} %", dot.name, 100 * share));
  }

  /// Moves a label up or down to a free place.
  void write_label(double at_x, double at_y, std::string_view anchor, const std::string& text) {
    constexpr double line = 13, letter = 6.4;
    const double length = letter * static_cast<double>(text.size());
    const double begin = anchor == "end" ? at_x - length : at_x;
    const auto is_free = [&](double there) {
      return std::ranges::none_of(labels_, [&](const Label& other) {
        return std::abs(other.y - there) < line && begin < other.end &&
               other.begin < begin + length;
      });
    };
    double shift = 0;
    for (int i = 0; i < 12 && !is_free(at_y + shift); ++i) {
      const int lines = i / 2 + 1;
      shift = (i % 2 == 0 ? line : -line) * lines;
    }
    labels_.push_back({begin, begin + length, at_y + shift});
    print(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
          "\n",
          at_x, at_y + shift, anchor, escaped(text));
  }

  struct Label {
    double begin, end, y;
  };

  fmt::memory_buffer& out_;
  const Dots& dots_;
  const DeviceSpec& device_;
  double bandwidth_;
  Decades x_, y_;
  std::vector<Label> labels_;
};

void write_legend(fmt::memory_buffer& out, const Dots& dots) {
  fmt::format_to(std::back_inserter(out), "<p class=\"legend\">");
  for (const profile::Limit limit : {profile::Limit::arithmetic, profile::Limit::cache,
                                     profile::Limit::memory, profile::Limit::launch})
    fmt::format_to(std::back_inserter(out), R"(<span><i style="background:{}"></i>{}</span>)",
                   color_of(limit), profile::name(limit));
  const auto percent = [&](double us) { return 100 * us / dots.busy_us; };
  fmt::format_to(std::back_inserter(out),
                 "</p>\n<p class=\"faint\">A dot is an operator in a pass, its area its share of "
                 "the busy time, its color what limits it. Bytes are those of its tensors, each "
                 "once. {:.1f} % of the time computes nothing and is not drawn{}.</p>\n",
                 percent(dots.without_flops_us),
                 dots.others_us > 0
                     ? fmt::format(", nor are short ones, {:.1f} %", percent(dots.others_us))
                     : "");
}

}  // namespace

void write_roofline_svg(fmt::memory_buffer& out, const Profile& profile, const DeviceSpec& device) {
  const Dots dots = dots_of(profile);
  if (dots.drawn.empty() || !device.memory_bytes_per_second) return;
  RooflineDrawing(out, dots, device).run();
  write_legend(out, dots);
}

}  // namespace symprof::report
