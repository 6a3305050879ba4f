// Pages are built one way: texts beside the page or shared, one form, one confirmation.
import { describe, expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

const FILES = [...new Glob("dashboard/**/*.{ts,tsx}").scanSync(".")].sort();
const sources = await Promise.all(
  FILES.map(async (path) => ({ path, text: (await Bun.file(path).text()).replace(/^\s*\/\/.*$/gm, "") })),
);
const where = (found: RegExp, among = sources): string[] =>
  among.flatMap(({ path, text }) => [...text.matchAll(found)].map(([match]) => `${path}: ${match.trim()}`));
const besides = (...own: string[]) => sources.filter(({ path }) => !own.includes(path));

/** Keys inside them belong to them alone. */
const ANSWER_KEYS = [
  "dashboard/keyboard.tsx",
  "dashboard/palette/opener.tsx",
  "dashboard/palette/palette.tsx",
];

test("forms and their submission are implemented once", () => {
  expect(where(/<form\b|preventDefault\(\)/g, besides(...ANSWER_KEYS))).toEqual([
    "dashboard/components/form.tsx: preventDefault()",
    "dashboard/components/form.tsx: <form",
    "dashboard/components/link.tsx: preventDefault()", // a click on a row is no submission
  ]);
});

test("texts are in text files, not among the elements", () => {
  expect(where(/\b(?:label|title|description|placeholder|alt|aria-label)="[^"]*[a-z]{2}[^"]*"/g)).toEqual([]);
  expect(where(/<[A-Z][\w.]*(?:\s[^<>{}]*)?>\s*[A-Za-z][a-z]+[^<>{}]*<\//g)).toEqual([]);
});

describe("a page has its texts beside it", () => {
  /** The audit log and the requests, for one organization and for all: one table, one set of texts. */
  const SHARED = new Map([
    ["dashboard/pages/operator/audit", "dashboard/pages/audit"],
    ["dashboard/pages/operator/requests", "dashboard/pages/activity"],
  ]);
  test.each(sources.filter(({ path }) => path.startsWith("dashboard/pages/")))("$path", ({ path, text }) => {
    const room = dirname(path);
    const taken = [...text.matchAll(/from "(\.[^"]+\/texts\.ts)"/g)].map(([, target = ""]) =>
      dirname(normalize(join(room, target))),
    );
    const own = [room, SHARED.get(room), "dashboard/components"];
    expect(taken.filter((from) => !own.includes(from))).toEqual([]);
  });
});

test("an irreversible action is confirmed", () => {
  const ENDS = /"(?:DELETE [^"]+|POST [^"]+\/(?:revoke|withdraw|disable|leave))"/;
  const bare = sources.filter(({ text }) => ENDS.test(text) && !text.includes("<ConfirmDialog"));
  // A person's own view of a page: made again with one click.
  expect(bare.map(({ path }) => path)).toEqual(["dashboard/pages/usage/views.tsx"]);
});
