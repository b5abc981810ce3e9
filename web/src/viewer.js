// The page's life: plots, robot and slider share one chosen sample.
import { choose, data } from "./data.js";
import { player } from "./player.js";
import { plots } from "./plots.js";
import { scene } from "./scene.js";

const made = data.plots ? plots() : [];
const stage = document.querySelector("[data-stage]");
if (stage) {
  scene(stage);
  player(stage.querySelector("[data-player]"));
}
// plots know their scales after their first drawing
requestAnimationFrame(() => requestAnimationFrame(() => choose(data.start || 0)));
document.querySelectorAll("[data-sample]").forEach((element) => {
  element.addEventListener("click", () => {
    choose(Number(element.dataset.sample));
    if (stage) stage.scrollIntoView({ block: "nearest" });
  });
});
// a plot knows its width once its fold is open, and a link of the contents opens what it names
const folds = [...document.querySelectorAll("details")];
for (const fold of folds) {
  fold.addEventListener("toggle", () => fold.open && dispatchEvent(new Event("resize")));
}
const openNamed = () => {
  const fold = folds.find((one) => one.id && `#${one.id}` === location.hash);
  if (!fold) return;
  fold.open = true;
  fold.scrollIntoView();
};
addEventListener("hashchange", openNamed);
document.querySelectorAll("nav a").forEach((link) => {
  link.addEventListener("click", () => setTimeout(openNamed));
});
openNamed();
// paper has no folds
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = folds.filter((fold) => !fold.open);
  unfolded.forEach((fold) => (fold.open = true));
});
addEventListener("afterprint", () => unfolded.forEach((fold) => (fold.open = false)));
document.documentElement.dataset.plots = made.length;
