// Files that are dropped or chosen: sent to the server on this machine, and opened as what they are.
const OPENED = ["job", "program", "robot"]; // of several the first of these is opened

async function sendOne(file, group) {
  const address = new URL(`files/${group}/${encodeURIComponent(file.name)}`, location.href);
  const answer = await fetch(address, { method: "POST", body: file });
  const found = await answer.json().catch(() => ({ error: `${file.name}: was not taken` }));
  if (found.error) throw new Error(found.error);
  return found;
}

export async function sendFiles(files) {
  const group = crypto.getRandomValues(new Uint32Array(2)).join("").slice(0, 16);
  const found = [];
  for (const file of files) found.push(await sendOne(file, group));
  const opened = OPENED.map((kind) => found.find((one) => one.kind === kind)).find(Boolean);
  const log = found.find((one) => one.kind === "log");
  if (!opened && !log) throw new Error("that is no job, program, robot or log");
  return { opened, log };
}
