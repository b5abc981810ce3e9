// The workpiece moved with the pointer: over the floor, or up and down with Shift.
import { has, set, show, valueOf } from "./knobs.js";

const KEYS = ["workpiece.position.1", "workpiece.position.2", "workpiece.position.3"];
const MM = 1000;
const STEP = 0.1; // to which places are rounded [mm]

const minus = (a, b) => a.map((x, k) => x - b[k]);
const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);

// Where a ray meets the plane through a point; null where it runs along it.
function meet({ from, way }, point, normal) {
  const speed = dot(way, normal);
  if (Math.abs(speed) < 1e-3) return null;
  const far = dot(minus(point, from), normal) / speed;
  return far > 0 ? from.map((x, k) => x + far * way[k]) : null;
}

// The plane that a pointer moves on: level, or upright facing the view.
function planeOf(ray, upright) {
  return upright ? [ray.way[0], ray.way[1], 0] : [0, 0, 1];
}

export function dragging(stage, changed) {
  const { canvas, controls } = stage;
  let held = null;
  let drawn = {}; // values of the state that is drawn
  const place = () => KEYS.map(valueOf);
  // what is drawn is of a place that the pointer has left behind: its seam goes along
  const goAlong = () => {
    if (!has(KEYS[0])) return;
    stage.shift(place().map((x, k) => (x - (drawn[KEYS[k]] ?? x)) / MM));
  };
  const move = (event) => {
    if (!held) {
      const over = has(KEYS[0]) && event.buttons === 0 && stage.hit(event);
      canvas.style.cursor = over ? "move" : "";
      return;
    }
    if (event.shiftKey !== held.upright) {
      held = { at: stage.hit(event) || held.at, from: place(), upright: event.shiftKey };
    }
    const ray = stage.ray(event);
    const now = meet(ray, held.at, planeOf(ray, held.upright));
    if (!now) return;
    const by = minus(now, held.at).map((x, k) => (held.upright === (k === 2) ? MM * x : 0));
    KEYS.forEach((key, k) => {
      set(key, Math.round((held.from[k] + by[k]) / STEP) * STEP);
      show(key);
    });
    goAlong();
    changed();
  };
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener(
    "pointerdown",
    (event) => {
      const at = has(KEYS[0]) && event.button === 0 ? stage.hit(event) : null;
      if (!at) return;
      held = { at, from: place(), upright: event.shiftKey };
      controls.enabled = false;
      canvas.setPointerCapture(event.pointerId);
    },
    { capture: true },
  );
  const release = () => {
    if (!held) return;
    held = null;
    controls.enabled = true;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  return (values) => {
    drawn = values;
    goAlong();
  };
}
