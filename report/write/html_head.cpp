#include "report/write/html_head.h"

#include <fmt/format.h>

namespace symprof::report {
namespace {

constexpr std::string_view common_style = R"(<style>
:root { color-scheme: light dark; --ink: #1d2129; --faint: #6b7280; --line: #d9dce1; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --faint: #9aa1ab; --line: #3a3f47; --paper: #16181c; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       margin: 2rem auto; max-width: 1160px; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; } .faint { color: var(--faint); })";

}  // namespace

std::string html_head(std::string_view path, std::string_view style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{0}: symprof</title>\n{1}{2}</head>\n<body>\n<h1>{0}</h1>\n",
      path, common_style, style);
}

}  // namespace symprof::report
