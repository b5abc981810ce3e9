// Zooming a plot moves its sisters, those over the same x; a key, a button or two clicks undo it.
import { choose, current } from "./data.js";

const families = new Map();
let moving = false;

function whole(u) {
  const xs = u.data[0];
  return { min: xs[0], max: xs[xs.length - 1] };
}

export function isWhole(u) {
  const { min, max } = whole(u);
  const { x } = u.scales;
  return x.min <= min && x.max >= max;
}

// The chosen sample keeps its line; scales are set with the next drawing.
function replaceLine() {
  requestAnimationFrame(() => choose(current()));
}

function showAll(family) {
  moving = true;
  for (const { u, button } of family) {
    u.setScale("x", whole(u));
    button.hidden = true;
  }
  moving = false;
  replaceLine();
}

// What a plot shows is shown by all of its family.
export function spread(u, name) {
  const family = families.get(name) || [];
  if (moving || !family.some((one) => one.u === u)) return;
  if (isWhole(u)) return showAll(family);
  const { min, max } = u.scales.x;
  moving = true;
  for (const { u: sister, button } of family) {
    if (sister !== u) sister.setScale("x", { min, max });
    button.hidden = false;
  }
  moving = false;
  replaceLine();
}

function undoButton(family) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "whole";
  button.textContent = "Show all (Esc)";
  button.hidden = true;
  button.addEventListener("click", () => showAll(family));
  return button;
}

function hint() {
  const text = document.createElement("p");
  text.className = "hint";
  text.textContent =
    "Drag across a plot to zoom, double-click or press Esc to see all again; " +
    "with the keyboard + and − zoom, arrow keys step.";
  return text;
}

export function leave(u) {
  families.forEach((family) => {
    const place = family.findIndex((one) => one.u === u);
    if (place >= 0) family.splice(place, 1);
  });
}

export function join(u, name, element) {
  if (!families.has(name)) families.set(name, []);
  if (!families.get(name).length) element.before(hint());
  const family = families.get(name);
  const button = undoButton(family);
  element.append(button);
  family.push({ u, button });
}

// Zoom by a factor about a value of x that keeps its place on the screen.
export function zoomAbout(u, x, factor) {
  const { min, max } = u.scales.x;
  const all = whole(u);
  u.setScale("x", {
    min: Math.max(all.min, x - (x - min) * factor),
    max: Math.min(all.max, x + (max - x) * factor),
  });
}

export function undoWithKey() {
  addEventListener("keydown", (event) => {
    const inPlot = event.target.closest?.("[data-plot]");
    if (event.key === "Escape" || (event.key === "0" && inPlot)) families.forEach(showAll);
  });
}
