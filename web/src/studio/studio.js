// The page: controls on the left, on the right what a report shows of the job as they set it.
import { connect } from "./connection.js";
import { dragging } from "./drag.js";
import { sendFiles } from "./files.js";
import { build, showAll } from "./knobs.js";
import { open, remember, shippedJobs, state } from "./state.js";

const viewer = globalThis.armtwin;
const find = (name) => document.querySelector(name);
const all = (name) => [...document.querySelectorAll(name)];
const [front, folds, line] = ["[data-front]", "[data-folds]", "[data-line]"].map(find);
let sent = 0;
let settingsOf = new Map(); // by number of a request that is not answered yet
let followPlace = null;
let offered = null; // what was opened last, as the server describes it

// A sentence below the bar: what was refused, or what happened.
function say(text, tone = "") {
  line.textContent = text;
  line.className = `line ${tone}`;
  line.hidden = !text;
}

function ask() {
  remember();
  sent += 1;
  settingsOf.set(sent, { ...state.settings });
  connection.ask({ ...state, id: sent });
  document.documentElement.dataset.asked = sent;
}

function change() {
  state.ask = "";
  ask();
}

function openSource(source) {
  open(source);
  find("[data-dialog=opening]").close();
  say(`opens ${source.name} ...`);
  ask();
}

function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function foldOf({ title, markup }) {
  const fold = document.createElement("details");
  fold.className = "fold";
  fold.dataset.fold = title;
  fold.open = state.shown.includes(title);
  const heading = document.createElement("h2");
  heading.textContent = title;
  const summary = document.createElement("summary");
  summary.append(heading);
  fold.append(summary, fragment(markup ?? "<p class=soft>...</p>"));
  return fold;
}

// The next page takes what is drawn from the present one; what has the focus keeps it.
function show({ title, subtitle, front: first, folds: others, data }) {
  const next = document.createElement("div");
  const [nextFront, nextFolds] = [fragment(first), document.createElement("div")];
  nextFolds.append(...others.map(foldOf));
  next.append(nextFront, nextFolds);
  const focus = document.activeElement;
  viewer.move(next, data);
  nextFolds.remove();
  front.replaceChildren(...next.childNodes);
  folds.replaceChildren(...nextFolds.childNodes);
  viewer.draw(data);
  if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  find("[data-title]").textContent = title;
  find("[data-subtitle]").textContent = subtitle;
  document.title = `${title} - armtwin studio`;
}

function showFresh(parts) {
  const marks = parts.map(({ name, text, is_known: isKnown }) => {
    const mark = document.createElement("span");
    mark.className = isKnown ? "known" : "";
    mark.dataset.part = name;
    mark.textContent = `${name}: ${text}`;
    return mark;
  });
  find("[data-fresh]").replaceChildren(...marks);
}

function showOpened(opened) {
  offered = opened;
  build(find("[data-knobs]"), opened.controls, change);
  find("[data-robot]").value = opened.changes.robot;
  find("[data-tolerance]").value = opened.changes.tolerance;
  find("[data-shipped]").value = shippedJobs.includes(opened.source.name) ? opened.source.name : "";
}

function showLog() {
  const place = find("[data-log]");
  place.hidden = !state.log;
  place.firstElementChild.textContent = `Logged run: ${state.log.split("/").pop()}`;
}

function take(message) {
  if (message.opened) showOpened(message.opened);
  if (message.done === "save") {
    find("[data-saved]").textContent = message.error || message.text;
  } else if (message.done === "copy") {
    takeCopy(message);
  } else if (message.error) {
    say(message.error, "bad");
    front.classList.add("stale");
  }
  if (message.fresh) showFresh(message.fresh);
  if (message.front === undefined) return;
  say("");
  front.classList.remove("stale");
  show(message);
  showLog();
  const stage = viewer.stage();
  if (stage?.canvas && !followPlace) followPlace = dragging(stage, change);
  followPlace?.(valuesOf(message.id));
  document.documentElement.dataset.shown = message.id;
}

// Values of all controls in an answered request.
function valuesOf(id) {
  const settings = settingsOf.get(id) || state.settings;
  settingsOf = new Map([...settingsOf].filter(([number]) => number >= id));
  return { ...Object.fromEntries(offered.controls.map((x) => [x.key, x.value])), ...settings };
}

async function takeCopy({ text, error }) {
  if (error) return say(error, "bad");
  find("[data-text]").value = text;
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    find("[data-dialog=copying]").showModal();
    find("[data-text]").select();
  }
}

async function takeFiles(files) {
  if (!files.length) return;
  say("reads what was dropped ...");
  try {
    const { opened, log } = await sendFiles(files);
    if (opened) openSource({ name: opened.name, changes: changesOf(opened.kind) });
    if (log) {
      state.log = log.name;
      change();
    }
    find("[data-dialog=opening]").close();
  } catch (error) {
    say(error.message, "bad");
  }
}

// A program has no robot and no tolerance: those of the dialog, by default of what is open.
function changesOf(kind) {
  if (kind !== "program") return {};
  const changes = {
    robot: find("[data-robot]").value.trim(), tolerance: find("[data-tolerance]").value.trim(),
  };
  if (offered && changes.robot === offered.changes.robot && offered.changes.tool) {
    changes.tool = offered.changes.tool;
  }
  return changes;
}

const PROGRAMS = /\.(src|mod|modx|prg|sys|ls|script|urscript|nc|gcode|tap|ngc)$/i;

find("[data-shipped]").append(
  ...["", ...shippedJobs].map((name) => new Option(name || "choose", name)),
);
find("[data-shipped]").addEventListener("change", ({ target }) => {
  if (target.value) openSource({ name: target.value, changes: {} });
});
find("[data-files]").addEventListener("change", ({ target }) => {
  takeFiles([...target.files]);
  target.value = "";
});
const openPath = () => {
  const name = find("[data-path]").value.trim();
  if (name) openSource({ name, changes: changesOf(PROGRAMS.test(name) ? "program" : "") });
};
find("[data-open-path]").addEventListener("click", openPath);
find("[data-path]").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  openPath();
});
all("[data-open]").forEach((button) => {
  button.addEventListener("click", () => find(`[data-dialog=${button.dataset.open}]`).showModal());
});
all("[data-copy]").forEach((button) => {
  button.addEventListener("click", () => {
    connection.send({ do: "copy", kind: button.dataset.copy });
  });
});
all("[data-ask]").forEach((button) => {
  button.addEventListener("click", () => {
    state.ask = button.dataset.ask;
    ask();
  });
});
find("[data-save]").addEventListener("click", () => {
  const [path, kind] = [find("[data-save-path]").value, find("[data-kind]").value];
  find("[data-saved]").textContent = "writes ...";
  connection.send({ do: "save", kind, path, replace: find("[data-replace]").checked });
});
find("[data-save-path]").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  find("[data-save]").click();
});
find("[data-reset]").addEventListener("click", () => {
  state.settings = {};
  showAll();
  change();
});
find("[data-drop-log]").addEventListener("click", () => {
  state.log = "";
  change();
});
find("[data-stop]").addEventListener("click", async () => {
  connection.end();
  await fetch(new URL("stop", location.href), { method: "POST" }).catch(() => {});
  say("armtwin studio has ended; this page can be closed");
});
find("[data-knobs]").addEventListener("submit", (event) => event.preventDefault());
folds.addEventListener(
  "toggle",
  ({ target }) => {
    const { fold } = target.dataset;
    if (fold === undefined || target.open === state.shown.includes(fold)) return;
    state.shown = target.open ? [...state.shown, fold] : state.shown.filter((x) => x !== fold);
    ask();
  },
  true,
);
addEventListener("dragover", (event) => {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
});
addEventListener("drop", (event) => {
  if (!event.dataTransfer?.files.length) return;
  event.preventDefault();
  takeFiles([...event.dataTransfer.files]);
});

const connection = connect({
  take,
  lost: () => say("The connection is lost; it is tried again ...", "bad"),
  found: () => {
    say("");
    ask();
  },
});
