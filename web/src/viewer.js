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
  element.addEventListener("click", () => choose(Number(element.dataset.sample)));
});
// paper has no folds
const folds = [...document.querySelectorAll("details")];
addEventListener("beforeprint", () => folds.forEach((fold) => (fold.open = true)));
addEventListener("afterprint", () => folds.forEach((fold) => (fold.open = false)));
document.documentElement.dataset.plots = made.length;
