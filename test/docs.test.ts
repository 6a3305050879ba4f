// What the documentation points at exists: files and tests of docs/spec-map.md, links of every page.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CREDENTIAL_HEADERS } from "../src/domain/credential.ts";
import { FORMATS } from "../src/gateway/formats/formats.ts";
import { VERSION } from "../src/domain/program.ts";

const root = join(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const rows = [
  ...read("docs/spec-map.md").matchAll(/^\| [\d.]+ \| .+? \| `([^`]+)` \| `([^`]+)` (.+?) \|$/gm),
].map(([, file = "", proof = "", name = ""]) => ({ file, proof, name }));

test("the specification map has a row for each promise", () => {
  expect(rows.length).toBeGreaterThan(50);
});

test.each(rows.map(({ file, proof, name }) => [name, file, proof] as const))("%s", (name, file, proof) => {
  expect({ file, there: existsSync(join(root, file)) }).toEqual({ file, there: true });
  expect({ proof, name, there: read(proof).includes(name) }).toEqual({ proof, name, there: true });
});

const faults = [...read("docs/faults.md").matchAll(/^\| .+? \| .+? \| `([^`]+)` (.+?) \|$/gm)].map(
  ([, proof = "", name = ""]) => [name, proof] as const,
);

test.each(faults)("a test breaks it: %s", (name, proof) => {
  expect({ proof, name, there: read(proof).includes(name) }).toEqual({ proof, name, there: true });
});

const clauses = [
  ...read("docs/design/dashboard.md").matchAll(/^\| .+? \| `((?:src|test)\/[^`]+\.test\.ts)` (.+?) \|$/gm),
].map(([, proof = "", name = ""]) => [name, proof] as const);

test("the paper on the dashboard has a row for each clause", () => {
  expect(clauses.length).toBeGreaterThan(40);
});

test.each(clauses)("a test says so: %s", (name, proof) => {
  expect({ proof, name, there: read(proof).includes(name) }).toEqual({ proof, name, there: true });
});

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...["docs", "docs/clients"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];

test.each(pages)("every link of %s leads somewhere", (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => !existsSync(join(root, dirname(page), link)));
  expect(broken).toEqual([]);
});

test("the credential headers that wire.md opens to other origins are those that a door reads", () => {
  const [, told = ""] = /that a door reads \(([^;)]+);/.exec(read("docs/design/wire.md")) ?? [];
  expect(told.split(", ")).toEqual([
    ...new Set(
      FORMATS.flatMap(({ credentialHeader: shown }) => (shown === "either" ? CREDENTIAL_HEADERS : [shown])),
    ),
  ]);
});

test("the program says the version of its package", () => {
  expect((JSON.parse(read("package.json")) as { version: string }).version).toBe(VERSION);
});
