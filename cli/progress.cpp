#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal.h"

namespace symprof::cli {
namespace {

constexpr auto silent_at_first = std::chrono::seconds(1);
constexpr auto pause = std::chrono::milliseconds(100);
constexpr std::string_view erase_line = "\r\x1b[K";

}  // namespace

ProgressBar::ProgressBar(const OutputOptions& options)
    : wanted_(!options.quiet && is_terminal(Stream::error)) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  const std::lock_guard lock(mutex_);
  if (!shown_) return;
  fmt::print(stderr, "{}", erase_line);
  std::fflush(stderr);
  shown_ = false;
}

Progress ProgressBar::callback() {
  if (!wanted_) return {};
  return [this](std::string_view stage, std::int64_t done, std::int64_t total) {
    show(stage, done, total);
  };
}

void ProgressBar::show(std::string_view stage, std::int64_t done, std::int64_t total) {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (now - start_ < silent_at_first || (shown_ && now - shown_at_ < pause)) return;
  shown_ = true;
  shown_at_ = now;
  constexpr std::int64_t width = 30;
  const std::int64_t part =
      total > 0 ? std::clamp<std::int64_t>(done, 0, total) * width / total : 0;
  fmt::print(stderr, "{}{:<10} [{:#<{}}{:{}}] {}/{}", erase_line, stage, "", part, "", width - part,
             done, total);
  std::fflush(stderr);
}

ShowProgress show_progress_of(const OutputOptions& options) {
  return [options](const std::function<void(const Progress&)>& work) {
    ProgressBar progress(options);
    work(progress.callback());
  };
}

}  // namespace symprof::cli
