// The style and the script of the page about a memory snapshot.
#pragma once

#include <string_view>

namespace symprof::report {

constexpr std::string_view memory_page_style = R"(
canvas { width: 100%; height: 420px; display: block; cursor: crosshair; touch-action: none; }
#map { height: 46px; margin-top: 4px; border-top: 1px solid var(--line); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 1px; margin: 1.2rem 0;
         background: var(--line); border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
.facts div { background: var(--paper); padding: .6rem .9rem; } .facts b { display: block; font-size: 1.25rem; }
#at { min-height: 1.6em; margin: .5rem 0; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { padding: .22rem .6rem; text-align: right; border-bottom: 1px solid var(--line); font-weight: normal; }
td:first-child, th:first-child { text-align: left; width: 55%; max-width: 0; overflow: hidden; text-overflow: ellipsis;
                                 white-space: nowrap; } th { color: var(--faint); }
tr:hover td { background: color-mix(in srgb, var(--ink) 6%, transparent); }
td i { display: inline-block; width: .8em; height: .8em; margin-right: .5em; border-radius: 2px; }
pre { font: 12.5px/1.45 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; }
</style>
)";

/// Reads the object `data`: names, start, base64 lists, and the number of events.
constexpr std::string_view memory_page_script = R"js(
const colors = ["#4c78a8", "#f2a541", "#72b7b2", "#e45756", "#54a24b", "#b79a20", "#9467bd", "#ff9da6", "#9d755d",
                 "#9ecae9", "#d4b6e0", "#8c8c8c"];
const bytesOf = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const events = new Uint32Array(bytesOf(data.event)), owners = new Uint8Array(bytesOf(data.owner));
const units = new Int32Array(bytesOf(data.units)), count = data.names.length, unit = 512;
const color = i => i == count - 1 ? "#bab0ac" : colors[i % colors.length];
const size = bytes => { let i = 0; while (Math.abs(bytes) >= 1024 && i < 5) { bytes /= 1024; ++i; }
  return bytes.toFixed(i ? 2 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][i]; };
// What each owner held at every 1024th change: a view begins near its left end.
const every = 1024, kept = [];
{ const now = Float64Array.from(data.start);
  for (let i = 0; i < events.length; ++i) {
    if (i % every == 0) kept.push(now.slice());
    now[owners[i]] += units[i] * unit;
  }
  if (!kept.length) kept.push(now); }
const lower = event => { let a = 0, b = events.length;
  while (a < b) { const m = (a + b) >> 1; events[m] < event ? a = m + 1 : b = m; } return a; };
// Held after all changes before number `stop`.
function heldBefore(stop) {
  const block = Math.min(Math.floor(stop / every), kept.length - 1), now = kept[block].slice();
  for (let i = block * every; i < stop; ++i) now[owners[i]] += units[i] * unit;
  return now;
}
const allocated = now => { let sum = 0; for (let i = 0; i < count; ++i) sum += now[i]; return sum; };
// For each column of pixels the moment at which the most was allocated.
function columns(from, to, width) {
  const found = [];
  let i = lower(from), now = heldBefore(i), sum = allocated(now);
  for (let x = 0; x < width; ++x) {
    const end = from + (to - from) * (x + 1) / width;
    let most = sum, best = null, reserved = now[count];
    const first = now.slice();
    for (; i < events.length && events[i] < end; ++i) {
      now[owners[i]] += units[i] * unit;
      if (owners[i] < count) sum += units[i] * unit; else reserved = Math.max(reserved, now[count]);
      if (sum > most) { most = sum; best = now.slice(); }
    }
    found.push({ held: best || first, reserved });
  }
  return found;
}
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name);
function prepare(canvas) {
  const box = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
  canvas.width = box.width * scale; canvas.height = box.height * scale;
  const pen = canvas.getContext("2d"); pen.scale(scale, scale);
  return [pen, box.width, box.height];
}
function stack(pen, found, left, height, top, most) {
  for (let x = 0; x < found.length; ++x) {
    let y = height;
    for (let o = 0; o < count; ++o) {
      const h = found[x].held[o] / most * (height - top);
      if (h <= 0) continue;
      pen.fillStyle = color(o); pen.fillRect(left + x, y - h, 1.02, h); y -= h;
    }
  }
  pen.strokeStyle = style("--ink"); pen.setLineDash([5, 3]); pen.beginPath();
  found.forEach((one, x) => pen.lineTo(left + x, height - one.reserved / most * (height - top)));
  pen.stroke(); pen.setLineDash([]);
}
const chart = document.getElementById("chart"), map = document.getElementById("map"), at = document.getElementById("at");
const left = 74, foot = 20, top_ = 8;
let from = 0, to = Math.max(data.events, 1), most = 1, shown = [];
function draw() {
  const [pen, width, height] = prepare(chart), floor = height - foot;
  shown = columns(from, to, Math.floor(width - left));
  most = Math.max(1, ...shown.map(one => Math.max(one.reserved, allocated(one.held)))) * 1.03;
  stack(pen, shown, left, floor, top_, most);
  pen.fillStyle = style("--faint"); pen.font = "12px system-ui, sans-serif"; pen.strokeStyle = style("--line");
  const step = 2 ** Math.ceil(Math.log2(most / 7));
  for (let bytes = 0; bytes <= most; bytes += step) {
    const y = floor - bytes / most * (floor - top_);
    pen.textAlign = "right"; pen.fillText(size(bytes), left - 6, y + 4);
    pen.beginPath(); pen.moveTo(left, y); pen.lineTo(width, y); pen.globalAlpha = .5; pen.stroke(); pen.globalAlpha = 1;
  }
  for (let i = 0; i <= 4; ++i) {
    pen.textAlign = i == 0 ? "left" : i == 4 ? "right" : "center";
    pen.fillText("event " + Math.round(from + (to - from) * i / 4).toLocaleString("en"), left + (width - left) * i / 4, height - 4);
  }
  const [small, mapWidth, mapHeight] = prepare(map);
  stack(small, columns(0, Math.max(data.events, 1), Math.floor(mapWidth - left)), left, mapHeight, 2, data.most * 1.03);
  const place = event => left + event / Math.max(data.events, 1) * (mapWidth - left);
  small.fillStyle = style("--ink"); small.globalAlpha = .14;
  small.fillRect(left, 0, place(from) - left, mapHeight); small.fillRect(place(to), 0, mapWidth - place(to), mapHeight);
}
function show(x) {
  const one = shown[x]; if (!one) return;
  at.textContent = `event ${Math.floor(from + (to - from) * x / shown.length).toLocaleString("en")}: ` +
    `${size(allocated(one.held))} allocated, ${size(one.reserved)} reserved`;
  for (let o = 0; o < count; ++o) document.getElementById("now" + o).textContent = size(one.held[o]);
}
const column = event => Math.round(event.clientX - chart.getBoundingClientRect().left - left);
function view(a, b) {
  const all = Math.max(data.events, 1), wide = Math.min(Math.max(b - a, 8), all);
  from = Math.min(Math.max(a, 0), all - wide); to = from + wide; draw();
}
chart.addEventListener("wheel", event => { event.preventDefault();
  const middle = from + (to - from) * Math.max(column(event), 0) / shown.length, factor = event.deltaY > 0 ? 1.25 : .8;
  view(middle - (middle - from) * factor, middle + (to - middle) * factor); }, { passive: false });
let held = null;
chart.addEventListener("pointerdown", event => { held = { x: event.clientX, from, to }; chart.setPointerCapture(event.pointerId); });
chart.addEventListener("pointerup", () => { held = null; });
chart.addEventListener("pointermove", event => {
  if (!held) return show(column(event));
  const by = (held.x - event.clientX) / shown.length * (held.to - held.from); view(held.from + by, held.to + by); });
chart.addEventListener("dblclick", () => view(0, data.events));
map.addEventListener("click", event => { const box = map.getBoundingClientRect(), half = (to - from) / 2;
  const middle = (event.clientX - box.left - left) / (box.width - left) * data.events; view(middle - half, middle + half); });
addEventListener("resize", draw); matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
document.querySelectorAll("td i").forEach((mark, i) => { mark.style.background = color(i); });
draw();
)js";

}  // namespace symprof::report
