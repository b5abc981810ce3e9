// The controls: a slider with a field, a choice, or a switch for each that the server offers.
import { state } from "./state.js";

const made = new Map();

function tag(name, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside);
  return element;
}

function slider(control, change) {
  const { low, high, step } = control;
  const range = tag("input", { type: "range", min: low, max: high, step });
  const field = tag("input", { type: "number", step: "any" });
  const show = (value) => ([range.value, field.value] = [value, Number(value.toPrecision(10))]);
  const moved = ({ target }) => {
    const value = target.valueAsNumber;
    if (!Number.isFinite(value)) return;
    if (target === range) field.value = value;
    else range.value = value;
    change(value);
  };
  range.addEventListener("input", moved);
  field.addEventListener("change", moved);
  range.setAttribute("aria-label", control.label);
  field.setAttribute("aria-label", `${control.label} in ${control.unit}`);
  return { show, parts: [range, field, tag("span", { className: "unit" }, unitOf(control))] };
}

const unitOf = ({ unit }) => ({ degC: "°C", deg: "°" })[unit] || unit;

function choice(control, change) {
  const options = control.choices.map((value) => tag("option", { value }, value || "none"));
  const select = tag("select", {}, ...options);
  select.setAttribute("aria-label", control.label);
  select.addEventListener("change", () => change(select.value));
  return { show: (value) => (select.value = value), parts: [select] };
}

function flick(control, change) {
  const box = tag("input", { type: "checkbox" });
  box.setAttribute("aria-label", control.label);
  box.addEventListener("change", () => change(box.checked));
  return { show: (value) => (box.checked = value), parts: [box] };
}

const kindOf = ({ value, choices }) => {
  if (choices.length) return choice;
  return typeof value === "boolean" ? flick : slider;
};

// A control back at its own value leaves no trace in the state.
export function set(key, value) {
  const control = made.get(key);
  if (value === control.own) delete state.settings[key];
  else state.settings[key] = value;
  control.row.classList.toggle("changed", value !== control.own);
}

export const valueOf = (key) => state.settings[key] ?? made.get(key)?.own;
export const has = (key) => made.has(key);

export function show(key) {
  made.get(key).show(valueOf(key));
  made.get(key).row.classList.toggle("changed", key in state.settings);
}

export const showAll = () => made.forEach((_, key) => show(key));

export function build(place, controls, changed) {
  made.clear();
  const groups = new Map();
  for (const control of controls) {
    const { key, label, group, value } = control;
    if (!groups.has(group)) {
      const title = tag("legend", {}, group);
      groups.set(group, tag("fieldset", {}, title));
    }
    const { show: put, parts } = kindOf(control)(control, (now) => {
      set(key, now);
      changed();
    });
    const back = tag("button", { type: "button", className: "back", title: "as the job has it" });
    back.textContent = "↺";
    back.setAttribute("aria-label", `${label}: as the job has it`);
    back.addEventListener("click", () => {
      set(key, value);
      put(value);
      changed();
    });
    const row = tag("div", { className: "knob" }, tag("span", {}, label), ...parts, back);
    row.dataset.key = key;
    made.set(key, { own: value, show: put, row });
    groups.get(group).append(row);
  }
  place.replaceChildren(...groups.values());
  for (const key of Object.keys(state.settings)) if (!made.has(key)) delete state.settings[key];
  showAll();
}
