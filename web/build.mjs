// Builds the viewer into the package: a script, a style sheet, that of charts alone for notebooks,
// and the licences of what is inside; and what the page of the studio has beside the viewer.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const target = "../src/armtwin/report/bundle/";
const common = { bundle: true, minify: true, charset: "utf8", legalComments: "none" };
await build({
  ...common,
  entryPoints: ["src/viewer.js"],
  format: "iife",
  globalName: "armtwin",
  target: "es2020",
  outfile: `${target}viewer.js`,
});
for (const name of ["style.css", "chart.css"]) {
  await build({ ...common, entryPoints: [`src/${name}`], outfile: `${target}${name}` });
}
const studio = "../src/armtwin/app/studio/";
await build({
  ...common,
  entryPoints: ["src/studio/studio.js"],
  format: "iife",
  target: "es2022",
  outfile: `${studio}studio.js`,
});
await build({ ...common, entryPoints: ["src/studio/studio.css"], outfile: `${studio}studio.css` });
const notices = ["three", "uplot"].map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${target}LICENSES.txt`, notices.join("\n\n"));
