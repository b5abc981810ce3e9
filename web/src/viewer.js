// The page's life: plots, robot and slider share one chosen sample.
import { choose, current, data, load, series } from "./data.js";
import { player } from "./player.js";
import { movePlots, plots } from "./plots.js";
import { moveScene, scene, stage } from "./scene.js";

export { stage };

const played = new WeakSet();

// The sample to show: that of the place that was shown, or where the page begins.
function sampleOf(place) {
  if (place === null) return data.start || 0;
  const places = series("place");
  let index = 0;
  while (index < places.length - 1 && places[index] < place) index++;
  return index;
}

// Draw data on the page that is there; again with other data it is the same picture, moved on.
export function draw(next) {
  const before = data;
  const stays = before?.scene && next.scene && current() !== before.start;
  const place = stays ? series("place")[current()] : null;
  load(next);
  document.documentElement.dataset.plots = plots().length;
  const figure = document.querySelector("[data-stage]");
  const controls = figure?.querySelector("[data-player]");
  if (figure) scene(figure);
  if (figure && !played.has(controls)) {
    played.add(controls);
    player(controls);
  }
  const show = () => choose(sampleOf(place));
  if (before) show();
  // plots know their scales after their first drawing
  else requestAnimationFrame(() => requestAnimationFrame(show));
}

// What is drawn moves to its places in the next page, which then can be put in the page's place.
export function move(page, next) {
  moveScene(page);
  movePlots(page, next);
}

document.addEventListener("click", ({ target }) => {
  const { sample } = target.closest?.("[data-sample]")?.dataset || {};
  if (sample === undefined) return;
  choose(Number(sample));
  document.querySelector("[data-stage]")?.scrollIntoView({ block: "nearest" });
});
// a plot knows its width once its fold is open, and a link of the contents opens what it names
const opened = ({ target }) => target.open && dispatchEvent(new Event("resize"));
document.addEventListener("toggle", opened, true);
const openNamed = () => {
  const fold = document.getElementById(location.hash.slice(1));
  if (fold?.tagName !== "DETAILS") return;
  fold.open = true;
  fold.scrollIntoView();
};
addEventListener("hashchange", openNamed);
document.addEventListener("click", ({ target }) => {
  if (target.closest?.("nav a")) setTimeout(openNamed);
});
// paper has no folds
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  unfolded.forEach((fold) => (fold.open = true));
});
addEventListener("afterprint", () => unfolded.forEach((fold) => (fold.open = false)));

const written = document.getElementById("data");
if (written) {
  draw(JSON.parse(written.textContent));
  openNamed();
}
