// Plots over seam length or time; the sample under the pointer is chosen everywhere.
import uPlot from "uplot";
import { choose, colour, current, data, follow, series } from "./data.js";

const HEIGHT = 240;
const COLOURS = ["c1", "c2", "c3", "c4", "c5", "c6", "c7"];

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

function flag(u, mark) {
  const { ctx, bbox } = u;
  const x = u.valToPos(mark.x, "x", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour(mark.bad ? "bad" : "mark");
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `${12 * devicePixelRatio}px sans-serif`;
  const right = x > bbox.left + bbox.width * 0.7;
  ctx.textAlign = right ? "right" : "left";
  ctx.fillText(mark.text, x + (right ? -4 : 4) * devicePixelRatio, bbox.top + (14 + 14 * (mark.row || 0)) * devicePixelRatio);
  ctx.restore();
}

// A series with holes where it has no numbers.
function gaps(values) {
  return values.some(Number.isNaN) ? Array.from(values, (v) => (Number.isNaN(v) ? null : v)) : values;
}

function build(element, plot) {
  const x = series(plot.x);
  const axis = { stroke: () => colour("ink"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { stroke: () => colour("grid") } };
  const lines = plot.lines.map((line, i) => ({
    label: line.label,
    stroke: () => colour(COLOURS[(line.colour ?? i) % COLOURS.length]),
    width: line.dashed ? 1 : 1.5,
    dash: line.dashed ? [5, 4] : undefined,
    value: (u, v) => (v == null ? "" : `${v.toPrecision(4)} ${plot.unit}`),
  }));
  const u = new uPlot(
    {
      width: element.clientWidth || 800,
      height: HEIGHT,
      scales: { x: { time: false } },
      cursor: { y: false, drag: { x: true, y: false }, points: { size: 7 } },
      series: [{ label: plot.x_label, value: (u, v) => (v == null ? "" : v.toFixed(plot.x === "time" ? 3 : 1)) }, ...lines],
      axes: [
        { ...axis, label: plot.x_label, labelSize: 22, size: 38 },
        { ...axis, label: `${plot.y_label} [${plot.unit}]`, labelSize: 22, size: 62 },
      ],
      hooks: {
        drawClear: [(u) => shade(u, plot.shaded || [], colour("off"))],
        draw: [
          (u) => (plot.rules || []).forEach((value) => rule(u, value, colour("bad"))),
          (u) => (plot.marks || []).forEach((mark) => flag(u, mark)),
        ],
        setCursor: [
          (u) => {
            if (u.cursor.idx != null && u.cursor.event) choose(plot.first + u.cursor.idx, u);
          },
        ],
      },
    },
    [x.subarray(plot.first, plot.last), ...plot.lines.map((line) => gaps(series(line.series).subarray(plot.first, plot.last)))],
    element,
  );
  follow((index, from) => {
    if (from === u) return;
    const local = Math.max(0, Math.min(index - plot.first, plot.last - plot.first - 1));
    const left = u.valToPos(u.data[0][local], "x");
    u.setCursor({ left, top: u.cursor.top > 0 ? u.cursor.top : 1 }, false);
    u.setLegend({ idx: local }, false);
  });
  element.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -50, PageDown: 50 }[event.key];
    if (step) {
      choose(current() + step * (event.shiftKey ? 10 : 1));
      event.preventDefault();
    }
  });
  return u;
}

export function plots() {
  const made = [...document.querySelectorAll("[data-plot]")].map((element) => {
    element.tabIndex = 0;
    return [element, build(element, data.plots[element.dataset.plot])];
  });
  const fit = () => made.forEach(([element, u]) => element.clientWidth && u.setSize({ width: element.clientWidth, height: HEIGHT }));
  addEventListener("resize", fit);
  addEventListener("beforeprint", fit);
  matchMedia("print").addEventListener("change", fit);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => made.forEach(([, u]) => u.redraw()));
  return made.map(([, u]) => u);
}
