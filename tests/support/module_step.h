// A step of modules, one of which makes, in the middle of the forward pass, a block that stays.
#pragma once

#include <string>

#include "profile/memory/allocator/allocator_settings.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {

using profile::operator""_MiB;

/// In "a" a block of 12 MiB that goes in "b", when another one of 4 MiB is there, which stays. In
/// "c" one of 14 MiB, which finds no room where the first one was.
struct ModuleStep : RecordingBuilder {
  ModuleStep() {
    const StorageId first = taken(12_MiB, in({"a", "a.inner"}));
    const NodeId second_node = in({"b"});
    const StorageId second = taken(4_MiB, second_node);
    event(EventKind::free, first, call("aten::relu", {}, {}, second_node));
    const StorageId third = taken(14_MiB, in({"c"}));
    const CallId last = call("aten::relu", {}, {}, second_node, Phase::backward);
    event(EventKind::free, second, last);
    event(EventKind::free, third, last);
  }

  /// A node in these modules, the outermost first.
  NodeId in(const std::vector<std::string>& modules) {
    const NodeId made = node(modules.back());
    for (const std::string& path : modules) {
      (*this)[made].scopes.push_back(static_cast<std::int32_t>(recording().modules.size()));
      recording().modules.push_back({path, "Module"});
    }
    return made;
  }

  StorageId taken(std::int64_t bytes, NodeId node) {
    const StorageId made = storage({.bytes = bytes, .saved = true});
    event(EventKind::allocate, made, call("aten::relu", {}, {}, node));
    return made;
  }
};

}  // namespace symprof::test
