#include "trace/python/lifetimes/known_lifetimes.h"

#include "trace/graph/same_code.h"

namespace symprof::trace {
namespace {

struct OfGraph {
  Graph graph;
  Lifetimes lifetimes;
  KnownLifetimes known;
};

}  // namespace

std::shared_ptr<const KnownLifetimes> known_lifetimes(const Graph& graph, Lifetimes lifetimes) {
  thread_local std::shared_ptr<const OfGraph> last;
  if (!last || last->lifetimes != lifetimes || !has_same_code(last->graph, graph)) {
    KnownLifetimes known{.dying_after = values_dying_after(graph, lifetimes), .possible = {}};
    if (lifetimes == Lifetimes::frames) known.possible = possible_lifetimes(graph);
    last = std::make_shared<OfGraph>(OfGraph{graph, lifetimes, std::move(known)});
  }
  return {last, &last->known};
}

}  // namespace symprof::trace
