// Flags above a plot: each names a place of its x, in rows so that no two texts meet.
import { colour } from "./data.js";

const ROW = 15; // height of a row of texts [px]
const MOST_ROWS = 10;
const POLE = 6; // from the pole of a flag to its text [px]
const LEFT_OF_PLOT = 50; // texts may reach over the labels of the y axis [px]
const RIGHT_OF_PLOT = 10;
const FONT = "12px system-ui, 'DejaVu Sans', sans-serif";
const pen = document.createElement("canvas").getContext("2d");

function textWidth(mark) {
  pen.font = mark.bad ? `bold ${FONT}` : FONT;
  return pen.measureText(mark.text).width + POLE + 8;
}

// A text runs to the right of its pole, to the left where it would be cut off, and above it where
// there is room on neither side.
function extent(mark, x, width) {
  const wide = textWidth(mark);
  const [least, most] = [-LEFT_OF_PLOT, width + RIGHT_OF_PLOT];
  if (x + wide <= most) return { mark, x, from: x, to: x + wide, side: "right" };
  if (x - wide >= least) return { mark, x, from: x - wide, to: x, side: "left" };
  const from = Math.max(least, most - wide);
  return { mark, x, from, to: from + wide, side: "above" };
}

// Marks at one place of the screen share a flag.
function gathered(marks, place, width) {
  const found = [];
  for (const mark of marks) {
    const x = place(mark.x);
    if (x < 0 || x > width) continue;
    const same = found.find((one) => Math.abs(one.x - x) < 2 && one.mark.bad === mark.bad);
    if (same) same.mark = { ...same.mark, text: `${same.mark.text}, ${mark.text}` };
    else found.push({ mark, x });
  }
  return found.sort((a, b) => b.x - a.x);
}

// From the right: a text stands above all it would cover, so that poles cross few texts.
function arranged(marks, place, width) {
  const flags = [];
  for (const { mark, x } of gathered(marks, place, width)) {
    const flag = extent(mark, x, width);
    const covered = flags.filter((other) => other.from < flag.to && flag.from < other.to);
    flag.row = Math.max(0, ...covered.map((other) => other.row + 1));
    flags.push(flag);
  }
  return flags;
}

// Room above the plot for all flags of a stretch of x over a width on the screen [px].
export function roomForFlags(marks, [low, high], width) {
  const place = (x) => ((x - low) / (high - low)) * width;
  const rows = arranged(marks, place, width).map((flag) => flag.row + 1);
  return ROW * Math.min(MOST_ROWS, Math.max(0, ...rows));
}

function pole(ctx, flag, room, bottom) {
  ctx.beginPath();
  ctx.setLineDash(flag.mark.bad ? [] : [2, 3]);
  ctx.moveTo(flag.x, -Math.min(room, ROW * flag.row + 4));
  ctx.lineTo(flag.x, bottom);
  ctx.stroke();
}

// A pennant is filled where the seam is out of tolerance and hollow elsewhere.
function pennant(ctx, flag, y) {
  const tip = flag.side === "left" ? -POLE : POLE;
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.moveTo(flag.x, y - 5);
  ctx.lineTo(flag.x + tip, y - 1);
  ctx.lineTo(flag.x, y + 3);
  ctx.closePath();
  ctx.stroke();
  if (flag.mark.bad) ctx.fill();
}

// The text on paper of its own, which hides poles behind it.
function text(ctx, flag, y) {
  const start = flag.from + (flag.side === "right" ? POLE + 3 : 3);
  const ink = ctx.fillStyle;
  ctx.fillStyle = colour("paper");
  ctx.fillRect(start - 1, y - 8, textWidth(flag.mark) - POLE - 6, ROW - 2);
  ctx.fillStyle = ink;
  ctx.font = flag.mark.bad ? `bold ${FONT}` : FONT;
  ctx.fillText(flag.mark.text, start, y + 3);
}

export function drawFlags(u, marks, room) {
  const { ctx, bbox } = u;
  const flags = arranged(marks, (x) => u.valToPos(x, "x"), bbox.width / devicePixelRatio);
  const paint = (flag) => {
    ctx.fillStyle = colour(flag.mark.bad ? "bad" : "mark");
    ctx.strokeStyle = ctx.fillStyle;
  };
  ctx.save();
  ctx.translate(bbox.left, bbox.top);
  ctx.scale(devicePixelRatio, devicePixelRatio);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  for (const flag of flags) {
    paint(flag);
    pole(ctx, flag, room, bbox.height / devicePixelRatio);
  }
  for (const flag of flags.filter((one) => ROW * (one.row + 1) <= room)) {
    const y = -ROW * flag.row - 6;
    paint(flag);
    text(ctx, flag, y);
    if (flag.side !== "above") pennant(ctx, flag, y);
  }
  ctx.restore();
}
