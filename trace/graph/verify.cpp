#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "trace/graph/graph.h"

namespace symprof::trace {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.values.size(), false) {}

  void run() {
    for (std::size_t id = 0; id < graph_.values.size(); ++id)
      defined_[id] = graph_.values[id].kind != ValueKind::result;
    // A branch's inputs and a tracer's placeholders may be results without a producer.
    for (ValueId id : graph_.inputs) defined_[checked(id, "the inputs")] = true;
    for (const Node& node : graph_.nodes) check(node);
    for (ValueId id : graph_.outputs) use(id, "the outputs");
    for (const Mutation& mutation : graph_.mutations) {
      use(mutation.target, "the mutations");
      use(mutation.source, "the mutations");
    }
  }

 private:
  void check(const Node& node) {
    for (const Argument& argument : node.arguments) {
      for_each_value(argument, [&](ValueId id) { use(id, node.name); });
      if (const auto* branch = std::get_if<std::shared_ptr<const Graph>>(&argument.value))
        if (*branch) verify(**branch);
    }
    if (node.scope < 0 || static_cast<std::size_t>(node.scope) >= graph_.scopes.size())
      fail(node.name, "is in a module that the graph does not have");
    for (ValueId id : node.outputs) {
      if (id == no_value) continue;
      const std::size_t index = checked(id, node.name);
      if (defined_[index])
        fail(node.name, fmt::format("defines '{}', which is defined already", name(index)));
      defined_[index] = true;
    }
  }

  void use(ValueId id, const std::string& user) {
    const std::size_t index = checked(id, user);
    if (defined_[index]) return;
    fail(user, fmt::format("uses '{}' before anything defines it", name(index)));
  }

  std::size_t checked(ValueId id, const std::string& user) {
    if (id < 0 || static_cast<std::size_t>(id) >= graph_.values.size())
      fail(user, "refers to a value that the graph does not have");
    return static_cast<std::size_t>(id);
  }

  const std::string& name(std::size_t index) const { return graph_.values[index].name; }

  [[noreturn]] void fail(const std::string& user, const std::string& problem) const {
    throw Error(fmt::format("{}: {}", graph_.path, user), problem,
                "The graph is cyclic, or the file is damaged.");
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace symprof::trace
