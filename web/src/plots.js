// Plots over seam length or time; the sample under the pointer is chosen everywhere.
import uPlot from "uplot";
import { choose, colour, current, data, follow, series } from "./data.js";
import { drawFlags, roomForFlags } from "./flags.js";
import { legendKey, markLine, ownColour } from "./marks.js";
import { isWhole, join, leave, spread, undoWithKey, zoomAbout } from "./zoom.js";

const HEIGHT = 240; // and less beside the answer, so that both fit a screen [px]
const FRONT_HEIGHT = 190;
const Y_AXIS = 62; // room for the labels of the y axis [px]
const ZOOM_KEYS = { "+": 0.5, "=": 0.5, "-": 2 };
const STEP_KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -50, PageDown: 50 };

function shade(u, spans, fill) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = fill;
  for (const [from, to] of spans) {
    const left = Math.max(u.valToPos(from, "x", true), bbox.left);
    const right = Math.min(u.valToPos(to, "x", true), bbox.left + bbox.width);
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

function rule(u, value, style) {
  const { ctx, bbox } = u;
  const y = u.valToPos(value, "y", true);
  if (y < bbox.top || y > bbox.top + bbox.height) return;
  ctx.save();
  ctx.strokeStyle = style;
  ctx.setLineDash([6, 4]);
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

// A series with holes where it has no numbers.
function gaps(values) {
  if (!values.some(Number.isNaN)) return values;
  return Array.from(values, (v) => (Number.isNaN(v) ? null : v));
}

function columns(plot) {
  const cut = (name) => series(name).subarray(plot.first, plot.last);
  return [cut(plot.x), ...plot.lines.map((line) => gaps(cut(line.series)))];
}

function axes(plot) {
  const axis = {
    stroke: () => colour("ink"),
    grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { stroke: () => colour("grid") },
    labelSize: 22,
  };
  return [
    { ...axis, label: plot.x_label, size: 38 },
    { ...axis, label: `${plot.y_label} [${plot.unit}]`, size: Y_AXIS },
  ];
}

function seriesOptions(plot) {
  const digits = plot.x === "time" ? 3 : 1;
  const lines = plot.lines.map((line) => ({
    label: line.label,
    stroke: () => ownColour(line),
    width: line.dashed ? 1 : 1.5,
    dash: line.dashed ? [5, 4] : undefined,
    value: (u, v) => (v == null ? "" : `${v.toPrecision(4)} ${plot.unit}`),
  }));
  return [{ label: plot.x_label, value: (u, v) => (v == null ? "" : v.toFixed(digits)) }, ...lines];
}

function hooks(plot, room) {
  const marked = plot.lines.length > 1;
  const count = plot.lines.length;
  return {
    drawClear: [(u) => shade(u, plot.shaded, colour("off"))],
    drawSeries: [(u, i) => marked && i > 0 && markLine(u, plot.lines[i - 1], i, count)],
    draw: [
      (u) => plot.rules.forEach((value) => rule(u, value, colour("bad"))),
      (u) => drawFlags(u, plot.marks, room()),
    ],
    setScale: [(u, key) => key === "x" && spread(u, plot.x)],
    setCursor: [
      (u) => u.cursor.idx != null && u.cursor.event && choose(plot.first + u.cursor.idx, u),
    ],
  };
}

function keysOf(element, u, plot) {
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEP_KEYS[event.key];
    const zoom = ZOOM_KEYS[event.key];
    if (!step && !zoom) return;
    if (step) choose(current() + step * (event.shiftKey ? 10 : 1));
    else zoomAbout(u, series(plot.x)[current()], zoom);
    event.preventDefault();
  });
}

function followSample(u, plot) {
  return follow((index, from) => {
    if (from === u) return;
    const local = Math.max(0, Math.min(index - plot.first, plot.last - plot.first - 1));
    const left = u.valToPos(u.data[0][local], "x");
    u.setCursor({ left, top: u.cursor.top > 0 ? u.cursor.top : 1 }, false);
    u.setLegend({ idx: local }, false);
  });
}

function build(element, plot) {
  let room = 0;
  const size = () => {
    const xs = series(plot.x).subarray(plot.first, plot.last);
    const width = element.clientWidth || 800;
    room = roomForFlags(plot.marks, [xs[0], xs[xs.length - 1]], width - Y_AXIS - 20);
    return { width, height: (element.closest(".front") ? FRONT_HEIGHT : HEIGHT) + room };
  };
  const options = {
    ...size(),
    padding: [() => room + 10, null, null, null],
    scales: { x: { time: false } },
    cursor: { y: false, drag: { x: true, y: false, dist: 5 }, points: { size: 7 } },
    legend: { markers: { show: false } },
    series: seriesOptions(plot),
    axes: axes(plot),
    hooks: hooks(plot, () => room),
  };
  const u = new uPlot(options, columns(plot), element);
  const labels = element.querySelectorAll(".u-series th");
  plot.lines.forEach((line, i) => labels[i + 1].prepend(legendKey(line, plot.lines.length > 1)));
  join(u, plot.x, element);
  const unfollow = followSample(u, plot);
  keysOf(element, u, plot);
  const fit = () => element.clientWidth && u.setSize(size());
  const renew = (next) => {
    const { min, max } = u.scales.x;
    const all = isWhole(u);
    Object.assign(plot, next); // what draws it reads it there
    u.batch(() => {
      u.setData(columns(plot), all);
      if (!all) u.setScale("x", { min, max });
    });
    if (size().height !== u.height) fit();
  };
  const remove = () => {
    unfollow();
    leave(u);
    u.destroy();
  };
  return { element, plot, u, fit, renew, remove };
}

let made = [];

// Plots of the places of the page; those that are there are given the new data.
export function plots() {
  const before = new Map(made.map((one) => [one.element, one]));
  made = [...document.querySelectorAll("[data-plot]")].map((element) => {
    const plot = data.plots[element.dataset.plot];
    const own = before.get(element);
    if (!own) {
      element.tabIndex = 0;
      return build(element, { ...plot });
    }
    before.delete(element);
    own.renew(plot);
    return own;
  });
  before.forEach((one) => one.remove());
  return made;
}

const look = ({ x, y_label, lines }) => [x, y_label, ...lines.map((line) => line.label)].join();

// Plots of the page that look like one of the next page take its place there.
export function movePlots(page, next) {
  const free = [...made];
  page.querySelectorAll("[data-plot]").forEach((place) => {
    const number = place.dataset.plot;
    const found = free.findIndex(({ plot }) => look(plot) === look(next.plots[number]));
    if (found < 0) return;
    const [{ element }] = free.splice(found, 1);
    element.dataset.plot = number;
    element.setAttribute("aria-label", place.getAttribute("aria-label"));
    place.replaceWith(element);
  });
}

const fitAll = () => made.forEach((one) => one.fit());
addEventListener("resize", fitAll);
addEventListener("beforeprint", fitAll);
matchMedia("print").addEventListener("change", fitAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  made.forEach(({ u }) => u.redraw());
});
undoWithKey();
