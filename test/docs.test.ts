// What the documentation refers to exists: files and tests of docs/spec-map.md, links of every page.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { buildProgram } from "../cli/program.ts";
import { operatorPageNames } from "../dashboard/components/texts.ts";
import { CREDENTIAL_HEADERS } from "../src/domain/credential.ts";
import { FORMATS } from "../src/gateway/formats/formats.ts";
import { behaviourSchema } from "../src/providers/simulator/behaviour.ts";
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
  ...[...new Bun.Glob("docs/**/*.md").scanSync({ cwd: root })].toSorted((a, b) => a.localeCompare(b)),
];

/** The anchors of a page's headings: `#the-data-directory`. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );

test.each(pages)("every link of %s leads to an existing place and heading", (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.flatMap(([, path = "", anchor]) => {
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return [path];
    return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [`${path}#${anchor}`];
  });
  expect(broken).toEqual([]);
});

test("every file that the walkthrough and the operator's pages name in full exists", () => {
  const places = ["", "src", "src/gateway", "docs"];
  const missing = pages
    .filter((page) => !/docs\/(?:design|decisions)\//.test(page))
    .flatMap((page) =>
      [...read(page).matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|tsx|md|yaml|json|svg))`/g)].map(
        ([, path = ""]) => ({
          page,
          path,
        }),
      ),
    )
    .filter(({ path }) => !places.some((place) => existsSync(join(root, place, path))));
  expect(missing).toEqual([]);
});

test("every command on a page exists, with each of its options", () => {
  const program = buildProgram(false);
  const wrong = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:\.\/|`| \/)tollgate ((?:--\S+ \S+ )*[a-z][^`\n#|]*)/g)]
      .map(([, line = ""]) => line)
      .flatMap((line) => strangeIn(program, line).map((strange) => ({ page, line, strange }))),
  );
  expect(wrong).toEqual([]);
});

test("docs/cli.md has every command, and each option that it lists exists", () => {
  const program = buildProgram(false);
  const rows = [...read("docs/cli.md").matchAll(/^\| (`.+?) \| /gm)].map(([, first = ""]) => first);
  const told = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, line = ""]) => line));
  expect(told.flatMap((line) => strangeIn(program, line))).toEqual([]);
  const spelled = told.flatMap(alternatives).join("\n");
  expect(commandsOf(program).filter((command) => !spelled.includes(command))).toEqual([]);
});

/** `setup codex`, `setup opencode`, from ``setup codex\|opencode``. */
const alternatives = (line: string): string[] => {
  const [verb = "", names = ""] = line.split(" ");
  return names.includes("\\|") ? names.split("\\|").map((name) => `${verb} ${name}`) : [line];
};

const commandsOf = (command: Command, path = ""): string[] =>
  command.commands.flatMap((one) =>
    one.commands.length === 0 ? [`${path}${one.name()}`] : commandsOf(one, `${path}${one.name()} `),
  );

/** The words of a command line that the program does not know. */
function strangeIn(program: Command, line: string): string[] {
  let command = program;
  const known = new Set(["--help", ...optionsOf(program)]);
  for (const word of line.replace(/^(?:--\S+ \S+ )+/, "").split(/[\s,.;:)|\\]+/)) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    for (const option of optionsOf(next)) known.add(option);
  }
  if (command === program) return [line];
  return (line.match(/--[a-z][a-z-]*/g) ?? []).filter((option) => !known.has(option));
}

const optionsOf = (command: Command): string[] => command.options.map(({ long }) => long ?? "");

test("an operator page that a paper or a message refers to has that name", () => {
  const sources = [...new Bun.Glob("{src,cli}/**/*.ts").scanSync({ cwd: root })];
  const strange = [...pages, ...sources].flatMap((page) =>
    [...read(page).matchAll(/Operators → ([A-Z].{20})/gs)]
      .map(([, words = ""]) => words)
      .filter((words) => !Object.values(operatorPageNames).some((name) => words.startsWith(name)))
      .map((words) => ({ page, words })),
  );
  expect(strange).toEqual([]);
});

test("docs/simulator.md describes exactly the existing behaviours", () => {
  const rows = [...read("docs/simulator.md").matchAll(/^\| (`[^|]+) \| .+ \|$/gm)].map(
    ([, first = ""]) => first,
  );
  const told = rows.flatMap((row) => row.split(":", 1)[0]?.match(/(?<=`)[a-z_]+(?=`)/g) ?? []);
  expect(told.toSorted()).toEqual(Object.keys(behaviourSchema.shape).toSorted());
});

test("the credential headers that wire.md opens to other origins are those that the gateway reads", () => {
  const [, told = ""] = /that a door reads \(([^;)]+);/.exec(read("docs/design/wire.md")) ?? [];
  expect(told.split(", ")).toEqual([
    ...new Set(
      FORMATS.flatMap(({ credentialHeader: shown }) => (shown === "either" ? CREDENTIAL_HEADERS : [shown])),
    ),
  ]);
});

test("the program's version is that of its package", () => {
  expect((JSON.parse(read("package.json")) as { version: string }).version).toBe(VERSION);
});
