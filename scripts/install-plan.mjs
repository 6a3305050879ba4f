// What `scripts/install.sh` gives npm: package.json and package-lock.json in FOLDER, made from ours. Plain JavaScript on
// Node, which comes with npm: Bun is one of the packages that it is about. Versions and checksums are those of the lock file.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder, wanted, addresses] = process.argv;
if (folder === undefined || !["serving", "everything"].includes(wanted) || !["known", "asked"].includes(addresses))
  throw new Error("usage: install-plan.mjs FOLDER serving|everything known|asked");

const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const manifest = read("package.json");
const lock = read("package-lock.json");

/** Where `name` is found by a package that lies at `from`: in its own folder, or in one above it. */
function place(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const path = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (path in lock.packages) return path;
    if (at === "") return null;
  }
}

/** What a package cannot do without. Optional peers are somebody else's to bring: npm would take those of our tools along. */
const needs = (entry) => [
  ...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }),
  ...Object.keys(entry.peerDependencies ?? {}).filter((name) => !entry.peerDependenciesMeta?.[name]?.optional),
];

function serving() {
  const found = new Set();
  const open = Object.keys(manifest.dependencies).map((name) => ["", name]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const path = place(...next);
    if (path === null || found.has(path)) continue;
    found.add(path);
    open.push(...needs(lock.packages[path]).map((name) => [path, name]));
  }
  return found;
}

/** Its file in a registry; npm puts the configured registry in the place of this one. Without it npm asks for each. */
function addressOf(path, { name, version }) {
  const called = name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  return `https://registry.npmjs.org/${called}/-/${called.slice(called.indexOf("/") + 1)}-${version}.tgz`;
}

const chosen = wanted === "serving" ? serving() : null;
/** Of package.json, and of the lock file's entry about it: without the tools where they are not wanted, and without scripts. */
function own(manifestOrEntry) {
  const product = { ...manifestOrEntry };
  delete product.scripts;
  if (chosen !== null) delete product.devDependencies;
  return product;
}
const packages = { "": own(lock.packages[""]) };
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === "" || (chosen !== null && !chosen.has(path))) continue;
  const known = addresses === "known" && entry.resolved === undefined && entry.integrity !== undefined;
  packages[path] = known ? { ...entry, resolved: addressOf(path, entry) } : entry;
}
mkdirSync(folder, { recursive: true });
const write = (name, value) => writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
write("package.json", own(manifest));
write("package-lock.json", { ...lock, packages });
