// Pages are made one way: words beside the page or among the shared ones, one form, one question before something happens.
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

/** A key of theirs is nobody else's. */
const ANSWER_KEYS = [
  "dashboard/keyboard.tsx",
  "dashboard/palette/opener.tsx",
  "dashboard/palette/palette.tsx",
];

test("a form and its submission are written once", () => {
  expect(where(/<form\b|preventDefault\(\)/g, besides(...ANSWER_KEYS))).toEqual([
    "dashboard/components/form.tsx: preventDefault()",
    "dashboard/components/form.tsx: <form",
    "dashboard/components/link.tsx: preventDefault()", // a click on a row is no submission
  ]);
});

test("words stand in texts, not among the elements", () => {
  expect(where(/\b(?:label|title|description|placeholder|alt|aria-label)="[^"]*[a-z]{2}[^"]*"/g)).toEqual([]);
  expect(where(/<[A-Z][\w.]*(?:\s[^<>{}]*)?>\s*[A-Za-z][a-z]+[^<>{}]*<\//g)).toEqual([]);
});

describe("a page has its words beside it", () => {
  /** The log, and the requests, of one organization and of all: one table, one set of words. */
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

test("what cannot be undone is asked for once more", () => {
  const ENDS = /"(?:DELETE [^"]+|POST [^"]+\/(?:revoke|withdraw|disable|leave))"/;
  const bare = sources.filter(({ text }) => ENDS.test(text) && !text.includes("<ConfirmDialog"));
  // One's own view of a page: made again with one click.
  expect(bare.map(({ path }) => path)).toEqual(["dashboard/pages/usage/views.tsx"]);
});
