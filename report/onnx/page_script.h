// The parts of the page that are the same for every model.
#pragma once

#include <string_view>

namespace symprof::report {

extern const std::string_view page_style, page_body;
/// The visible boxes and their positions: modules inside modules, each laid out in layers.
extern const std::string_view page_layout;
/// Drawing on a canvas, and the actions of mouse and keys.
extern const std::string_view page_view;

}  // namespace symprof::report
