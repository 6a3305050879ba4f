// Writes package.json and package-lock.json for `scripts/install.sh` into FOLDER, derived from ours. Plain JavaScript
// for Node, which comes with npm: Bun is one of the packages to install. Versions and checksums are those of the lock
// file.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder, wanted, addresses] = process.argv;
if (folder === undefined || !["serving", "everything"].includes(wanted) || !["known", "asked"].includes(addresses))
  throw new Error("usage: install-plan.mjs FOLDER serving|everything known|asked");

const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const manifest = read("package.json");
const lock = read("package-lock.json");

/** The path at which a package at `from` finds `name`: in its own folder, or in one above it. */
function place(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const path = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (path in lock.packages) return path;
    if (at === "") return null;
  }
}

/** The dependencies that a package needs. Optional peers are left out: npm would install those of our tools, too. */
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

/**
 * The package's file in a registry; npm substitutes the configured registry. Without it npm asks the registry for
 * each package.
 */
function addressOf(path, { name, version }) {
  const called = name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  return `https://registry.npmjs.org/${called}/-/${called.slice(called.indexOf("/") + 1)}-${version}.tgz`;
}

const chosen = wanted === "serving" ? serving() : null;
/**
 * A copy of package.json, or of the lock file's entry for it, without the tools unless they are wanted, and without
 * scripts.
 */
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
