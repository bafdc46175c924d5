#include "trace/torchscript/autocast.h"

#include <ATen/core/ivalue.h>

#include "meta/fake/convert.h"
#include "trace/graph/region_markers.h"

namespace symprof::trace::torchscript {

std::optional<Node> autocast_region(const c10::IValue& object) {
  if (!object.isObject()) return std::nullopt;
  const c10::ivalue::Object& context = object.toObjectRef();
  const auto name = context.type()->name();
  // torch.autocast, torch.cuda.amp.autocast, torch.cpu.amp.autocast.
  if (!name || !name->qualifiedName().ends_with("amp.autocast_mode.autocast")) return std::nullopt;
  Node marker{.name = "autocast", .op = std::string(region_autocast), .overload = ""};
  marker.arguments.push_back({"enabled", context.getAttr("_enabled").toBool()});
  const c10::IValue dtype = context.getAttr("fast_dtype");
  if (dtype.isInt())
    marker.arguments.push_back(
        {"dtype", meta::dtype_of(static_cast<at::ScalarType>(dtype.toInt()))});
  return marker;
}

}  // namespace symprof::trace::torchscript
