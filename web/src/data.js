// What the page was written with: tables as JSON, series as base64 of 32-bit floats.
export const data = JSON.parse(document.getElementById("data").textContent);

export const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

export const floats = (text) => new Float32Array(bytes(text).buffer);

const cache = new Map();

// A series by its name; all series of a page have one value for each sample.
export function series(name) {
  if (!cache.has(name)) cache.set(name, floats(data.series[name]));
  return cache.get(name);
}

// What follows the chosen sample: plots, the robot, the slider.
const followers = [];
let chosen = 0;

export function follow(callback) {
  followers.push(callback);
}

export function choose(index, from) {
  chosen = Math.max(0, Math.min(index, data.count - 1));
  for (const callback of followers) callback(chosen, from);
}

export const current = () => chosen;

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
