#include "report/onnx/page_script.h"

namespace symprof::report {

const std::string_view page_style = R"html(<style>
:root { color-scheme: light dark; --ink: #1d2129; --faint: #6b7280; --line: #b6bcc6; --paper: #fff; --panel: #f6f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --faint: #9aa1ab; --line: #565d68; --paper: #16181c; --panel: #1f2227; }
}
html, body { margin: 0; height: 100%; overflow: hidden; font: 13px/1.45 system-ui, sans-serif;
             color: var(--ink); background: var(--paper); }
canvas { position: absolute; inset: 0; width: 100%; height: 100%; touch-action: none; }
#bar { position: absolute; left: 10px; top: 10px; display: flex; gap: 6px; flex-wrap: wrap; }
#bar > * { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line);
           border-radius: 6px; padding: 4px 8px; }
#found { position: absolute; left: 10px; top: 48px; max-height: 60%; overflow: auto; background: var(--panel);
         border: 1px solid var(--line); border-radius: 6px; display: none; }
#found div { padding: 3px 10px; cursor: pointer; } #found div:hover { background: var(--line); }
#panel { position: absolute; right: 0; top: 0; bottom: 0; width: 340px; overflow: auto; background: var(--panel);
         border-left: 1px solid var(--line); padding: 10px 14px; box-sizing: border-box; display: none; }
#panel h2 { font-size: 15px; margin: 0 24px 4px 0; overflow-wrap: anywhere; }
#panel h3 { font-size: 12px; margin: 12px 0 2px; color: var(--faint); }
#panel div, #panel td { overflow-wrap: anywhere; } #panel td:last-child { text-align: right; }
#panel table { width: 100%; border-spacing: 0; } #panel a { color: inherit; cursor: pointer; }
#close { position: absolute; right: 10px; top: 8px; cursor: pointer; border: 0; background: none; color: inherit; font-size: 18px; }
</style>
)html";

const std::string_view page_body = R"html(<canvas></canvas>
<div id="bar">
<input id="search" type="search" placeholder="Search (/)" aria-label="Search">
<select id="color" aria-label="Color"></select>
<button id="fit">Fit</button><button id="open">Open all</button><button id="shut">Close all</button>
<span id="count"></span>
</div>
<div id="found"></div>
<div id="panel"></div>
)html";

const std::string_view page_view = R"js(
const canvas = document.querySelector('canvas'), draw = canvas.getContext('2d');
const $ = id => document.getElementById(id);
const dark = matchMedia('(prefers-color-scheme: dark)');
let scale = 1, left = 0, top_ = 0, chosen = null, waiting = false, color = -1;
let rows = [];  // What is seen, for drawing and picking.

function again() { if (!waiting) { waiting = true; requestAnimationFrame(paint); } }
function collect() {
  rows = [];
  const walk = cluster => {
    for (const child of cluster.children) {
      rows.push(child);
      if (child.isCluster && child.open) walk(child);
    }
  };
  walk(clusters[0]);
  $('count').textContent = `${rows.filter(one => !one.isCluster || !one.open).length} of ${boxes.length} boxes`;
}
function arrange() { layOut(); collect(); again(); }

const kinds = [[/MatMul|Gemm|Conv|Attention/, '#f4b6b6'], [/Norm/, '#f6dfa4'],
  [/Reshape|Transpose|Squeeze|Unsqueeze|Slice|Split|Concat|Expand|Flatten|Cast/, '#e3e5e8'], [/./, '#cfe2f3']];
const most = data.costs.map((_, i) => Math.max(1, ...boxes.map(one => one.box.v ? one.box.v[i] : 0)));
function fill(item) {
  if (item.isCluster) return dark.matches ? '#2b313a' : '#dfe7f0';
  const box = item.box;
  if (box.k === 'input') return '#aaeeaa';
  if (box.k === 'output') return '#aaaaee';
  if (color < 0) return kinds.find(kind => kind[0].test(box.l))[1];
  const pale = 255 - Math.round(200 * Math.max(0, box.v ? box.v[color] : 0) / most[color]);
  return `rgb(255,${pale},${pale})`;
}

function paint() {
  waiting = false;
  const ratio = devicePixelRatio, w = innerWidth, h = innerHeight;
  if (canvas.width !== w * ratio || canvas.height !== h * ratio) { canvas.width = w * ratio; canvas.height = h * ratio; }
  const style = getComputedStyle(document.documentElement), ink = style.getPropertyValue('--ink'),
    line = style.getPropertyValue('--line');
  draw.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw.clearRect(0, 0, w, h);
  draw.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top_);
  const x0 = -left / scale, y0 = -top_ / scale, x1 = x0 + w / scale, y1 = y0 + h / scale;
  const inView = item => item.x < x1 && item.y < y1 && item.x + item.w > x0 && item.y + item.h > y0;
  draw.font = '12px system-ui, sans-serif';
  draw.textBaseline = 'middle';
  for (const item of rows) if (item.isCluster && item.open && inView(item)) paintFrame(item, ink, line);
  paintEdges(line, x0, y0, x1, y1);
  for (const item of rows) if (!(item.isCluster && item.open) && inView(item)) paintItem(item, ink, line);
}
function paintFrame(item, ink, line) {
  draw.strokeStyle = line;
  draw.lineWidth = 1;
  draw.strokeRect(item.x, item.y, item.w, item.h);
  if (scale < 0.25) return;
  draw.fillStyle = ink;
  draw.fillText('− ' + item.label, item.x + 8, item.y + 14);
}
function paintItem(item, ink, line) {
  draw.fillStyle = fill(item);
  if (scale < 0.12) { draw.fillRect(item.x, item.y, item.w, item.h); return; }
  draw.beginPath();
  draw.roundRect(item.x, item.y, item.w, item.h, item.isCluster ? 9 : 5);
  draw.fill();
  draw.strokeStyle = item === chosen ? '#1668dc' : line;
  draw.lineWidth = item === chosen ? 3 : 1;
  if (!item.isCluster && item.box.k === 'shared') draw.setLineDash([4, 3]);  // Made elsewhere.
  draw.stroke();
  draw.setLineDash([]);
  if (scale < 0.3) return;
  draw.fillStyle = item.isCluster ? ink : '#1d2129';
  const two = Boolean(item.sub);
  draw.fillText((item.isCluster ? '+ ' : '') + item.title, item.x + 8, item.y + (two ? 13 : item.h / 2));
  if (!two) return;
  draw.save();
  draw.globalAlpha = 0.65;
  draw.font = '10px system-ui, sans-serif';
  draw.fillText(item.sub, item.x + 8, item.y + item.h - 10);
  draw.restore();
}
function paintEdges(line, x0, y0, x1, y1) {
  const names = scale > 0.8;
  draw.strokeStyle = line;
  draw.lineWidth = Math.max(1, 0.6 / scale);
  draw.beginPath();
  const marked = [], labels = [];
  for (const edge of edges) {
    const [a, b] = edge;
    const ax = a.x + a.w / 2, ay = a.y + a.h, bx = b.x + b.w / 2, by = b.y;
    if (Math.max(ax, bx) < x0 || Math.min(ax, bx) > x1 || Math.max(ay, by) < y0 || Math.min(ay, by) > y1) continue;
    if (a === chosen || b === chosen) { marked.push([ax, ay, bx, by]); labels.push(edge); continue; }
    curve(ax, ay, bx, by);
    if (names && Math.abs(by - ay) < 400) labels.push(edge);
  }
  draw.stroke();
  draw.strokeStyle = '#1668dc';
  draw.lineWidth = Math.max(2, 1 / scale);
  draw.beginPath();
  for (const [ax, ay, bx, by] of marked) curve(ax, ay, bx, by);
  draw.stroke();
  if (scale < 0.5) return;
  draw.save();
  draw.font = '9px system-ui, sans-serif';
  draw.fillStyle = '#8a919c';
  for (const [a, b, types, count] of labels)
    draw.fillText(types[0] + (count > 1 ? ` × ${count}` : ''), (a.x + a.w / 2 + b.x + b.w / 2) / 2 + 3, (a.y + a.h + b.y) / 2);
  draw.restore();
}
function curve(ax, ay, bx, by) {
  const bend = Math.min(60, Math.max(12, Math.abs(by - ay) / 2));
  draw.moveTo(ax, ay);
  draw.bezierCurveTo(ax, ay + bend, bx, by - bend, bx, by);
  draw.lineTo(bx - 3, by - 5);
  draw.moveTo(bx, by);
  draw.lineTo(bx + 3, by - 5);
}

function pick(event) {
  const x = (event.clientX - left) / scale, y = (event.clientY - top_) / scale;
  const hits = item => x >= item.x && x <= item.x + item.w && y >= item.y && y <= item.y + item.h;
  let found = null;
  for (const item of rows) {
    if (!hits(item)) continue;
    if (!(item.isCluster && item.open) || y <= item.y + head) found = item;
  }
  return found;
}
function zoom(factor, x, y) {
  const next = Math.min(4, Math.max(0.01, scale * factor));
  left = x - (x - left) * next / scale;
  top_ = y - (y - top_) * next / scale;
  scale = next;
  again();
}
function fit() {
  const root = clusters[0];
  scale = Math.min(1.2, (innerWidth - 40) / root.w, (innerHeight - 70) / root.h);
  left = (innerWidth - root.w * scale) / 2;
  top_ = 50;
  again();
}
function center(item) {
  scale = Math.max(scale, 0.7);
  left = innerWidth / 2 - (item.x + item.w / 2) * scale;
  top_ = innerHeight / 2 - (item.y + item.h / 2) * scale;
  again();
}
function toggle(cluster) {
  const x = cluster.x * scale + left, y = cluster.y * scale + top_;
  cluster.open = !cluster.open;
  layOut();
  collect();
  left = x - cluster.x * scale;  // It stays where it was seen.
  top_ = y - cluster.y * scale;
  again();
}
function reveal(item) {
  for (let at = item.parent; at; at = at.parent) at.open = true;
  arrange();
  choose(item);
  center(item);
}

const clean = text => String(text).replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);
function choose(item) {
  chosen = item;
  const panel = $('panel');
  panel.style.display = item && !item.isCluster ? 'block' : 'none';
  if (item && !item.isCluster) {
    const box = item.box, list = (title, lines) => lines && lines.length
      ? `<h3>${title}</h3>` + lines.map(one => `<div>${clean(one)}</div>`).join('') : '';
    const path = [];
    for (let at = item.parent; at && at.parent; at = at.parent) path.unshift(at.label);
    panel.innerHTML = `<button id="close" aria-label="Close">×</button><h2>${clean(box.l)}</h2><div>${clean(box.n)}</div>` +
      list('in', path) + list('inputs', box.i) + list('outputs', box.o || (box.t ? [box.t] : [])) + list('attributes', box.a) +
      (box.w ? '<h3>costs</h3><table>' + data.costs.map((title, i) =>
        `<tr><td>${clean(title)}</td><td>${clean(box.w[i] || '?')}</td></tr>`).join('') + '</table>' : '');
    $('close').onclick = () => { choose(null); };
  }
  again();
}

let drag = null;
canvas.onpointerdown = event => {
  canvas.setPointerCapture(event.pointerId);
  drag = {x: event.clientX, y: event.clientY, moved: false};
};
canvas.onpointermove = event => {
  if (!drag) { canvas.style.cursor = pick(event) ? 'pointer' : 'default'; return; }
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
  drag = {x: event.clientX, y: event.clientY, moved: true};
  left += dx;
  top_ += dy;
  again();
};
canvas.onpointerup = event => {
  const moved = drag && drag.moved;
  drag = null;
  if (moved) return;
  const item = pick(event);
  if (item && item.isCluster) toggle(item); else choose(item);
};
canvas.onwheel = event => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event.clientX, event.clientY); };
$('fit').onclick = fit;
const setAll = open => { for (const one of clusters.slice(1)) one.open = open; arrange(); fit(); };
$('open').onclick = () => setAll(true);
$('shut').onclick = () => setAll(false);
function textOf(item) {
  if (item.text) return item.text;
  const words = item.isCluster ? [item.label] : [item.box.l, item.box.n, ...(item.box.o || [])];
  if (!item.isCluster && item.parent.parent) words.push(item.parent.label);
  return item.text = words.join(' ').toLowerCase();
}
$('search').oninput = event => {
  const wanted = event.target.value.toLowerCase(), list = $('found');
  const hits = wanted ? [...clusters.slice(1), ...boxes].filter(one => textOf(one).includes(wanted)) : [];
  list.style.display = hits.length ? 'block' : 'none';
  list.replaceChildren(...hits.slice(0, 100).map(one => {
    const row = document.createElement('div');
    row.textContent = one.isCluster ? one.label : `${one.box.l}  ${one.box.n}`;
    row.onclick = () => reveal(one);
    return row;
  }));
};
$('search').onkeydown = event => {
  if (event.key === 'Enter' && $('found').firstChild) $('found').firstChild.click();
  if (event.key === 'Escape') { event.target.value = ''; $('found').style.display = 'none'; event.target.blur(); }
  event.stopPropagation();
};
onkeydown = event => {
  if (event.key === '/') { event.preventDefault(); $('search').focus(); }
  if (event.key === '0') fit();
  if (event.key === '+') zoom(1.3, innerWidth / 2, innerHeight / 2);
  if (event.key === '-') zoom(1 / 1.3, innerWidth / 2, innerHeight / 2);
  if (event.key === 'Escape') choose(null);
};
onresize = again;
dark.onchange = again;
$('color').replaceChildren(...['by kind', ...data.costs].map((title, i) => new Option(title, i - 1)));
$('color').onchange = event => { color = Number(event.target.value); again(); };
// What can be open from the start, outermost first, without filling the page.
let shown = clusters[0].children.length;
for (let todo = clusters[0].children.filter(one => one.isCluster); todo.length; ) {
  const one = todo.shift();
  if (one.isList || shown + one.children.length > 40) continue;
  one.open = true;
  shown += one.children.length;
  todo.push(...one.children.filter(child => child.isCluster));
}
arrange();
fit();
if (scale < 0.6) {  // Tall graphs begin at their top, so that they can be read.
  scale = Math.min(0.8, (innerWidth - 40) / clusters[0].w);
  left = (innerWidth - clusters[0].w * scale) / 2;
}
)js";

}  // namespace symprof::report
