// Nodes of ONNX graphs, including subgraphs.
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>

#include "workbench/types.h"

namespace symprof::workbench {

/// True if the node is ONNX's own Constant.
inline bool is_constant(const onnx::NodeProto& node) {
  return node.op_type() == "Constant" && plain_domain(node.domain()).empty();
}

/// Visits each of `nodes`, and after a node the nodes of its subgraphs.
inline void for_all_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                          const std::function<void(const onnx::NodeProto&)>& visit) {
  for (const onnx::NodeProto& node : nodes) {
    visit(node);
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) for_all_nodes(attribute.g().node(), visit);
  }
}

}  // namespace symprof::workbench
