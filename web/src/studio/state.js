// What the tab shows: all of it, so that a reload and a new connection need nothing else.
const given = JSON.parse(document.getElementById("state").textContent);
const KEY = "armtwin studio";

export const shippedJobs = given.jobs;

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}

export const state = remembered() || {
  source: given.source, settings: {}, log: "", shown: [], ask: "",
};

export function remember() {
  sessionStorage.setItem(KEY, JSON.stringify(state));
}

// Another job: nothing of the last one is kept but what is open below.
export function open(source) {
  Object.assign(state, { source, settings: {}, log: "", ask: "" });
}
