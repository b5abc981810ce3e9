// What is drawn: tables as JSON, series as base64 of 32-bit floats. A report has it in the page, a
// live page gives it again and again.
export let data = null;

export function bytes(text) {
  const raw = atob(text);
  const found = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) found[k] = raw.charCodeAt(k);
  return found;
}

export const floats = (text) => new Float32Array(bytes(text).buffer);

const cache = new Map();

export function load(next) {
  data = next;
  cache.clear();
}

// A series by its name; all series of a page have one value for each sample.
export function series(name) {
  if (!cache.has(name)) cache.set(name, floats(data.series[name]));
  return cache.get(name);
}

// What follows the chosen sample: plots, the robot, the slider.
const followers = new Set();
let chosen = 0;

export function follow(callback) {
  followers.add(callback);
  return () => followers.delete(callback);
}

export function choose(index, from) {
  chosen = Math.max(0, Math.min(index, data.count - 1));
  for (const callback of followers) callback(chosen, from);
}

export const current = () => chosen;

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
