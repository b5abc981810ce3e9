// Builds the viewer into the package: one script, one style sheet, and the licences of what is inside.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const target = "../src/armtwin/report/bundle/";
await build({
  entryPoints: ["src/viewer.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  outfile: `${target}viewer.js`,
});
await build({ entryPoints: ["src/style.css"], bundle: true, minify: true, charset: "utf8", outfile: `${target}style.css` });
const notices = ["three", "uplot"].map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${target}LICENSES.txt`, notices.join("\n\n"));
