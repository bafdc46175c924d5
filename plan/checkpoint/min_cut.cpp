#include "plan/checkpoint/min_cut.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace symprof::plan {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 4;

/// Maximum flow along shortest paths (Edmonds and Karp): regions have some dozens of calls.
class Network {
 public:
  explicit Network(std::size_t vertices) : edges_of_(vertices) {}

  void connect(std::size_t from, std::size_t to, std::int64_t capacity) {
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  /// By vertex: true if it is reachable from `source` in the residual network of a maximum flow to
  /// `sink`.
  std::vector<bool> source_side(std::size_t source, std::size_t sink) {
    for (;;) {
      const std::vector<std::size_t> came = search(source);
      if (came[sink] == unreached) {
        std::vector<bool> reached;
        for (std::size_t i = 0; i < came.size(); ++i)
          reached.push_back(i == source || came[i] != unreached);
        return reached;
      }
      std::int64_t flow = unlimited;
      for (std::size_t at = sink; at != source; at = edges_[came[at] ^ 1].to)
        flow = std::min(flow, edges_[came[at]].capacity);
      if (flow >= unlimited) return std::vector<bool>(edges_of_.size(), false);
      for (std::size_t at = sink; at != source; at = edges_[came[at] ^ 1].to) {
        edges_[came[at]].capacity -= flow;
        edges_[came[at] ^ 1].capacity += flow;
      }
    }
  }

 private:
  struct Edge {
    std::size_t to;
    std::int64_t capacity;
  };
  static constexpr std::size_t unreached = std::numeric_limits<std::size_t>::max();

  /// The edge by which breadth-first search first reaches each vertex.
  std::vector<std::size_t> search(std::size_t source) const {
    std::vector<std::size_t> came(edges_of_.size(), unreached);
    std::queue<std::size_t> next;
    for (next.push(source); !next.empty(); next.pop())
      for (const std::size_t edge : edges_of_[next.front()]) {
        const std::size_t to = edges_[edge].to;
        if (edges_[edge].capacity <= 0 || to == source || came[to] != unreached) continue;
        came[to] = edge;
        next.push(to);
      }
    return came;
  }

  std::vector<Edge> edges_;  // Each edge is followed by its reverse.
  std::vector<std::vector<std::size_t>> edges_of_;
};

}  // namespace

std::vector<int> minimum_cut(const std::vector<CutCall>& calls) {
  const std::size_t source = 2 * calls.size(), sink = source + 1;
  Network network(sink + 1);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t in = 2 * i, out = in + 1;
    network.connect(in, out, calls[i].bytes < 0 ? unlimited : calls[i].bytes);
    if (calls[i].is_expensive) network.connect(source, in, unlimited);
    if (calls[i].is_needed) network.connect(out, sink, unlimited);
    for (const int read : calls[i].reads)
      network.connect(2 * static_cast<std::size_t>(read) + 1, in, unlimited);
  }
  const std::vector<bool> reached = network.source_side(source, sink);
  std::vector<int> cut;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (reached[2 * i] && !reached[2 * i + 1]) cut.push_back(static_cast<int>(i));
  return cut;
}

}  // namespace symprof::plan
