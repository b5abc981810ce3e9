// Slider and play button: the chosen sample in time, slowed down where the scene has a pace.
import { choose, current, data, follow, series } from "./data.js";

export function player(element) {
  const slider = element.querySelector("input");
  const button = element.querySelector("button");
  const reading = element.querySelector("output");
  const time = (index) => series("time")[index];
  const last = () => data.count - 1;
  const pace = () => data.scene.pace || 1; // time that passes in a second of play [s]
  const clock = (t) => (pace() < 1 ? `${(1000 * t).toFixed(1)} ms` : `${t.toFixed(2)} s`);
  let playing = 0;

  // the line of the robot program whose move the tool is on
  const source = (place) => {
    const found = data.scene.seam?.lines?.find(([start, stop]) => start <= place && place <= stop);
    return found ? `, line ${found[2]}` : "";
  };
  const read = (index) => {
    slider.max = last();
    slider.value = index;
    const place = series("place")[index];
    reading.textContent = `${clock(time(index))}, ${place.toFixed(1)} mm${source(place)}`;
  };
  const stop = () => {
    cancelAnimationFrame(playing);
    playing = 0;
    button.textContent = "Play";
  };
  const play = () => {
    button.textContent = "Pause";
    let index = current() >= last() ? 0 : current();
    const start = performance.now() - (1000 * time(index)) / pace();
    const tick = (now) => {
      const reached = (pace() * (now - start)) / 1000;
      index = Math.min(index, last());
      while (index < last() && time(index + 1) <= reached) index++;
      choose(index);
      if (index >= last()) return stop();
      playing = requestAnimationFrame(tick);
    };
    playing = requestAnimationFrame(tick);
  };

  element.hidden = false;
  follow(read);
  slider.addEventListener("input", () => choose(Number(slider.value)));
  button.addEventListener("click", () => (playing ? stop() : play()));
  read(current());
}
