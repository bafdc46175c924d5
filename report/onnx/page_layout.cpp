#include "report/onnx/page_script.h"

namespace symprof::report {

const std::string_view page_layout = R"js('use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const measure = document.createElement('canvas').getContext('2d');
measure.font = '12px system-ui, sans-serif';
const widths = new Map();
function textWidth(text) {
  let width = widths.get(text);
  if (width === undefined) widths.set(text, width = measure.measureText(text).width);
  return width;
}
const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;

// Items are clusters (with children) and boxes. A cluster that holds nothing but another one is
// that one.
const clusters = data.clusters.map((one, id) =>
  ({id, label: one.l, parent: one.p, children: [], open: id === 0, isCluster: true}));
const boxes = data.boxes.map((one, id) => ({id, box: one, parent: clusters[one.c], isCluster: false}));
for (const cluster of clusters.slice(1)) cluster.parent = clusters[cluster.parent];
clusters[0].parent = null;
for (const item of [...clusters.slice(1), ...boxes]) item.parent.children.push(item);
groupLists();
for (const cluster of [...clusters].reverse())
  if (cluster.parent && cluster.children.length === 0)
    cluster.parent.children = cluster.parent.children.filter(child => child !== cluster);
for (const cluster of clusters)
  while (cluster.parent && cluster.children.length === 1 && cluster.children[0].isCluster) {
    const only = cluster.children[0];
    if (!cluster.isList) cluster.label = only.label;
    cluster.children = only.children;
    for (const child of cluster.children) child.parent = cluster;
  }
for (const item of [...clusters, ...boxes]) item.size = 0;
for (const item of boxes)
  if (item.box.k === 'node') for (let at = item; at; at = at.parent) ++at.size;

// Elements of one list (layers.0, layers.1, …) of one class are a group.
function groupLists() {
  for (const parent of clusters.slice()) {
    const lists = new Map();
    for (const child of parent.children) {
      const parts = child.isCluster && /^(.*)\.(\d+)( \(.*\))?$/.exec(child.label);
      if (!parts) continue;
      const key = parts[1] + (parts[3] || '');
      if (!lists.has(key)) lists.set(key, []);
      lists.get(key).push(child);
    }
    for (const elements of lists.values()) {
      if (elements.length < 3 || elements.length === parent.children.length) continue;
      const names = elements.map(one => one.label.replace(/ \(.*\)$/, ''));
      const type = /( \(.*\))?$/.exec(elements[0].label)[0];
      const group = {id: clusters.length, label: `${elements.length} × ${names[0]} … ${names[names.length - 1]}${type}`,
                     parent, children: elements, open: false, isCluster: true, isList: true};
      for (const one of elements) one.parent = group;
      parent.children = parent.children.filter(one => !elements.includes(one)).concat(group);
      clusters.push(group);
    }
  }
}

// The item that is seen for a box: itself, or the closed cluster around it.
function seen(item) {
  let visible = item;
  for (let at = item.parent; at; at = at.parent) if (!at.open) visible = at;
  return visible;
}
// The child of `cluster` that `item` lies in; null for one outside.
function childIn(cluster, item) {
  let at = item;
  while (at && at.parent !== cluster) at = at.parent;
  return at;
}

const gapX = 18, gapY = 34, pad = 12, head = 22;
function sizeOf(item) {
  if (!item.isCluster) {
    item.title = cut(item.box.l, 40);
    item.sub = cut(item.box.t || '', 44);
    item.w = Math.max(textWidth(item.title), textWidth(item.sub) * 0.85, 30) + 16;
    item.h = item.sub ? 36 : 24;
  } else if (!item.open) {
    item.title = cut(item.label, 60);
    item.sub = `${item.size} nodes`;
    item.w = Math.max(textWidth(item.title), 60) + 34;
    item.h = 38;
  }
}

let edges = [];
// Places everything that is seen. An edge is [from, to, types, how many].
function layOut() {
  const between = new Map();
  for (const [from, to, type] of data.arrows) {
    const a = seen(boxes[from]), b = seen(boxes[to]);
    if (a === b) continue;
    const key = `${a.isCluster ? 'c' : 'b'}${a.id}>${b.isCluster ? 'c' : 'b'}${b.id}`;
    const known = between.get(key);
    if (known) { ++known[3]; if (!known[2].includes(type)) known[2].push(type); }
    else between.set(key, [a, b, [type], 1]);
  }
  edges = [...between.values()];
  const inside = new Map();  // Edges between children of one cluster, by cluster.
  for (const [a, b] of edges) {
    const around = new Set();
    for (let at = a.parent; at; at = at.parent) around.add(at);
    let common = b.parent;
    while (!around.has(common)) common = common.parent;
    if (!inside.has(common)) inside.set(common, []);
    inside.get(common).push([childIn(common, a), childIn(common, b)]);
  }
  place(clusters[0], inside);
  shift(clusters[0], 0, 0);
}

function place(cluster, inside) {
  for (const child of cluster.children)
    child.isCluster && child.open ? place(child, inside) : sizeOf(child);
  const layers = order(layer(cluster.children, inside.get(cluster) || []), inside.get(cluster) || []);
  let y = pad + head, most = textWidth(cluster.label || '') + 30;
  for (const row of layers) {
    let x = 0, height = 0;
    for (const item of row) { item.rx = x; x += item.w + gapX; height = Math.max(height, item.h); }
    row.width = x - gapX;
    most = Math.max(most, row.width);
    for (const item of row) item.ry = y + (height - item.h) / 2;
    y += height + gapY;
  }
  straighten(layers, inside.get(cluster) || [], most);
  let left = Infinity, right = -Infinity;
  for (const item of cluster.children) { left = Math.min(left, item.rx); right = Math.max(right, item.rx + item.w); }
  for (const item of cluster.children) item.rx += pad - left;
  cluster.w = Math.max(right - left, textWidth(cluster.label || '') + 30) + 2 * pad;
  cluster.h = y - gapY + pad;
}

// Longest paths from the sources; edges that close a circle of clusters are left out.
function layer(items, links) {
  const next = new Map(items.map(item => [item, new Set()]));
  for (const [a, b] of links) if (a !== b) next.get(a).add(b);
  const state = new Map(), finished = [];
  for (const root of items) {
    if (state.has(root)) continue;
    state.set(root, 1);
    const stack = [[root, next.get(root).values()]];
    while (stack.length) {
      const [item, iterator] = stack[stack.length - 1];
      const step = iterator.next();
      if (step.done) { state.set(item, 2); finished.push(item); stack.pop(); continue; }
      if (state.get(step.value) === 1) next.get(item).delete(step.value);
      else if (!state.has(step.value)) {
        state.set(step.value, 1);
        stack.push([step.value, next.get(step.value).values()]);
      }
    }
  }
  for (const item of items) item.layer = 0;
  for (const item of finished.reverse())
    for (const to of next.get(item)) to.layer = Math.max(to.layer, item.layer + 1);
  // Sources stand right above what reads them first.
  const isRead = new Set(links.map(link => link[1]));
  for (const item of items)
    if (!isRead.has(item) && next.get(item).size)
      item.layer = Math.max(0, Math.min(...[...next.get(item)].map(to => to.layer)) - 1);
  const layers = [];
  for (const item of items) (layers[item.layer] = layers[item.layer] || []).push(item);
  return layers.filter(Boolean);
}

// Barycenters, down and up.
function order(layers, links) {
  const above = new Map(), below = new Map();
  for (const [a, b] of links) {
    if (!above.has(b)) above.set(b, []);
    if (!below.has(a)) below.set(a, []);
    above.get(b).push(a);
    below.get(a).push(b);
  }
  const number = () => layers.forEach(row => row.forEach((item, i) => item.at = (i + 1) / (row.length + 1)));
  number();
  for (let round = 0; round < 4; ++round) {
    const beside = round % 2 ? below : above;
    for (const row of layers) {
      for (const item of row) {
        const others = beside.get(item) || [];
        item.want = others.length ? others.reduce((sum, one) => sum + one.at, 0) / others.length : item.at;
      }
      row.sort((a, b) => a.want - b.want);
      row.forEach((item, i) => item.at = (i + 1) / (row.length + 1));
    }
  }
  return layers;
}

// Rows start centered; then items move towards the middle of what they read, without overlaps.
function straighten(layers, links, most) {
  for (const row of layers) for (const item of row) item.rx += (most - row.width) / 2;
  const above = new Map();
  for (const [a, b] of links) {
    if (!above.has(b)) above.set(b, []);
    above.get(b).push(a);
  }
  for (const row of layers) {
    for (const item of row) {
      const others = above.get(item) || [];
      if (others.length)
        item.rx = others.reduce((sum, one) => sum + one.rx + one.w / 2, 0) / others.length - item.w / 2;
    }
    for (let i = 1; i < row.length; ++i)
      row[i].rx = Math.max(row[i].rx, row[i - 1].rx + row[i - 1].w + gapX);
  }
}

function shift(cluster, x, y) {
  cluster.x = x; cluster.y = y;
  for (const child of cluster.children) {
    child.x = x + child.rx; child.y = y + child.ry;
    if (child.isCluster && child.open) shift(child, child.x, child.y);
  }
}
)js";

}  // namespace symprof::report
