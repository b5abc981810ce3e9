// Shapes along lines and in their legend: what tells lines apart beside colour.
import { colour } from "./data.js";

const SHAPES = [
  "M0,-4a4,4 0 1 0 0.01,0z",
  "M-3.5,-3.5h7v7h-7z",
  "M0,-4.5l4.5,8h-9z",
  "M0,-5l4.5,5l-4.5,5l-4.5,-5z",
  "M-4,-4L4,4M-4,4L4,-4",
  "M0,-5V5M-5,0H5",
  "M0,4.5l4.5,-8h-9z",
];
const SPACING = 120; // from one mark of a line to its next [px]
const SVG = "http://www.w3.org/2000/svg";

const shape = (line) => SHAPES[line.colour % SHAPES.length];
export const ownColour = (line) => colour(`c${(line.colour % SHAPES.length) + 1}`);

function stamp(ctx, line, x, y) {
  const path = new Path2D(shape(line));
  ctx.save();
  ctx.translate(x, y);
  ctx.scale(devicePixelRatio, devicePixelRatio);
  ctx.fillStyle = line.dashed ? colour("paper") : ownColour(line);
  ctx.strokeStyle = ownColour(line);
  ctx.lineWidth = 1.5;
  ctx.fill(path);
  ctx.stroke(path);
  ctx.restore();
}

// Marks at equal distances on the screen; lines of a plot take turns, so marks do not meet.
export function markLine(u, line, number, count) {
  const { ctx, bbox } = u;
  const width = bbox.width / devicePixelRatio;
  const [xs, ys] = [u.data[0], u.data[number]];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (let left = (SPACING * (number - 0.5)) / count; left < width; left += SPACING) {
    const k = u.posToIdx(left);
    if (ys[k] != null) stamp(ctx, line, u.valToPos(xs[k], "x", true), u.valToPos(ys[k], "y", true));
  }
  ctx.restore();
}

function drawn(d, style) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  path.setAttribute("class", style);
  return path;
}

// The line as it is drawn, before its name in the legend.
export function legendKey(line, marked) {
  const key = document.createElementNS(SVG, "svg");
  key.setAttribute("class", `key c${(line.colour % SHAPES.length) + 1}`);
  key.append(drawn("M0,7H34", line.dashed ? "dashed" : ""));
  if (marked) {
    const mark = drawn(shape(line), line.dashed ? "hollow" : "full");
    mark.setAttribute("transform", "translate(17,7)");
    key.append(mark);
  }
  return key;
}
