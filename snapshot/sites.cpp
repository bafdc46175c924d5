#include "snapshot/sites.h"

#include <fmt/format.h>

#include <ranges>

#include "snapshot/frame_kinds.h"

namespace symprof::snapshot {
namespace {

/// The last frame of each stack that symprof writes.
constexpr std::string_view written_by_symprof = "memory";

class Naming {
 public:
  explicit Naming(const Snapshot& snapshot) : stacks_(snapshot.stacks), files_(snapshot) {}

  Line line(std::span<const FrameId> frames) const {
    if (frames.empty()) return {};
    if (is_simulated(frames)) {
      const Frame& call = stacks_.frame(frames.front());
      return {LineKind::node, shortened_file(stacks_.text(call.file)),
              shortened_function(stacks_.text(call.function)), 0};
    }
    if (const Frame* own = own_frame(frames)) return source_line(*own);
    if (Line node = autograd_line(frames); node.kind == LineKind::autograd) return node;
    if (const Frame* python = innermost(frames, FileKind::python_library))
      return source_line(*python);
    return native_line(frames);
  }

  std::string module(std::span<const FrameId> frames) const {
    if (is_simulated(frames))  // The call, the owner's modules from the inside out, the category.
      return frames.size() > 2 ? shortened_file(stacks_.text(stacks_.frame(frames[1]).file))
                               : std::string();
    std::string path;
    bool is_called_from_here = false;
    constexpr std::size_t most_bytes = 10'000;
    for (const FrameId id : frames) {
      if (path.size() > most_bytes) break;
      const Frame& frame = stacks_.frame(id);
      if (is_own(frame) && is_called_from_here)
        path = fmt::format("{}:{}{}{}", files_.name(frame.file), frame.line,
                           path.empty() ? "" : " > ", path);
      if (is_own(frame)) is_called_from_here = false;
      if (files_.kind(frame.file) == FileKind::torch_module) is_called_from_here = true;
    }
    return path;
  }

 private:
  bool is_simulated(std::span<const FrameId> frames) const {
    if (frames.size() < 2) return false;
    const Frame& last = stacks_.frame(frames.back());
    return last.line == 0 && stacks_.text(last.file) == written_by_symprof;
  }
  bool is_own(const Frame& frame) const {
    const FileKind kind = files_.kind(frame.file);
    return kind == FileKind::program || kind == FileKind::package;
  }

  /// The program's line in the innermost module, or that of a package where the module is one's: of
  /// einops called by a model the model's line, of transformers called by a script that of
  /// transformers.
  const Frame* own_frame(std::span<const FrameId> frames) const {
    const Frame* of_package = nullptr;
    for (const FrameId id : frames) {
      const Frame& frame = stacks_.frame(id);
      const FileKind kind = files_.kind(frame.file);
      if (kind == FileKind::program) return &frame;
      if (kind == FileKind::package && !of_package) of_package = &frame;
      if (kind == FileKind::torch_module && of_package) return of_package;
    }
    return of_package;
  }
  const Frame* innermost(std::span<const FrameId> frames, FileKind kind) const {
    for (const FrameId id : frames)
      if (files_.kind(stacks_.frame(id).file) == kind) return &stacks_.frame(id);
    return nullptr;
  }
  Line source_line(const Frame& frame) const {
    return {LineKind::source, files_.name(frame.file),
            shortened_function(stacks_.text(frame.function)), frame.line};
  }
  /// The innermost operator, else the innermost function that is not in every stack.
  Line native_line(std::span<const FrameId> frames) const {
    for (const FrameId id : frames)
      if (auto name = operator_name(stacks_.text(stacks_.frame(id).function)))
        return {LineKind::native, {}, shortened_function(*std::move(name)), 0};
    for (const FrameId id : frames)
      if (const std::string& function = stacks_.text(stacks_.frame(id).function);
          !is_of_every_stack(function))
        return {LineKind::native, {}, shortened_function(without_parameters(function)), 0};
    return {LineKind::native,
            {},
            shortened_function(stacks_.text(stacks_.frame(frames.front()).function)),
            0};
  }
  Line autograd_line(std::span<const FrameId> frames) const {
    for (const FrameId id : frames)
      if (auto node = autograd_node(stacks_.text(stacks_.frame(id).function)))
        return {LineKind::autograd, {}, shortened_function(*std::move(node)), 0};
    return {};
  }

  const Stacks& stacks_;
  Files files_;
};

}  // namespace

Sites::Sites(const Snapshot& snapshot) {
  const Naming naming(snapshot);
  std::unordered_map<std::string, LineId> lines;
  std::unordered_map<std::string, ModuleId> modules{{"", no_module}};
  lines_ = {{}, {.kind = LineKind::before_start}};
  modules_.emplace_back();
  const auto module_id = [&](const std::string& name) {
    const auto [at, is_new] = modules.try_emplace(name, static_cast<ModuleId>(modules_.size()));
    if (is_new) modules_.push_back(name);
    return at->second;
  };
  for (StackId stack = 0; stack < snapshot.stacks.size(); ++stack) {
    const auto frames = snapshot.stacks.frames(stack);
    const Line line = naming.line(frames);
    if (line.kind == LineKind::no_frames) {
      lines_of_stacks_.push_back(no_frames);
    } else {
      const auto [at, is_new] =
          lines.try_emplace(text_of(line), static_cast<LineId>(lines_.size()));
      if (is_new) lines_.push_back(line);
      lines_of_stacks_.push_back(at->second);
    }
    modules_of_stacks_.push_back(module_id(naming.module(frames)));
  }
  for (const std::vector<Event>& trace : snapshot.traces)
    for (const Event& event : trace)
      if (event.metadata != 0 && !modules_of_metadata_.contains(event.metadata))
        modules_of_metadata_[event.metadata] =
            module_id(shortened_file(snapshot.stacks.text(event.metadata)));
}

std::string text_of(const Line& line) {
  switch (line.kind) {
    case LineKind::source:
      return fmt::format("{}:{} {}", line.file, line.number, line.function);
    case LineKind::node:
      return fmt::format("{} {}", line.file, line.function);
    case LineKind::autograd:
    case LineKind::native:
      return line.function;
    case LineKind::no_frames:
      return "no frames";
    case LineKind::before_start:
      return "before the recording";
  }
  return {};
}

}  // namespace symprof::snapshot
