// Checks citations in comments: every section, rule, fault and requirement that a file cites must be in
// `docs/design/` or `docs/spec.md`, and every decision in `docs/decisions/`, where each number belongs to one
// decision. A citation that leads nowhere is worse than none.
import { readFileSync } from "node:fs";
import { Glob } from "bun";

const PAPERS = "docs/design";
const DECISIONS = "docs/decisions";
const SPECIFICATION = "docs/spec.md";
const CITING = [
  "{src,cli,dashboard,bench,torture,test,scripts}/**/*.{ts,tsx}",
  "docs/{design,decisions}/*.md",
  "docs/*.md",
  "*.md",
];

/** The places of a paper that can be cited: `4`, `4.2` for a heading or a numbered item below it, `fault 33`, `S21`. */
function placesIn(text: string): Set<string> {
  const places = new Set<string>();
  let section = "";
  for (const line of text.split("\n")) {
    const heading = /^#{2,} (\d+(?:\.\d+)*)[. ]/.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    const item = /^(\d+)\. /.exec(line)?.[1];
    if (item !== undefined) places.add(`${section}.${item}`);
    for (const [, fault] of line.matchAll(/\*\*(\d+)\*\*/g)) places.add(`fault ${fault}`);
    for (const [, requirement] of line.matchAll(/^\| (S\d+) \|/g)) places.add(requirement ?? "");
    places.add(section);
  }
  return places;
}

const papers = new Map(
  [...new Glob("*.md").scanSync(PAPERS)].map(
    (name) => [name, placesIn(readFileSync(`${PAPERS}/${name}`, "utf8"))] as const,
  ),
);
const specification = placesIn(readFileSync(SPECIFICATION, "utf8"));
const known = (paper: string, place: string): boolean => papers.get(paper)?.has(place) === true;

/** Matches `money.md §7, §8.2`, `hardening.md S33`, `money.md §12, fault 7`: a paper's name and the places after it. */
const OF_A_PAPER = new RegExp(
  `\\b(${[...papers.keys()].map((name) => name.replace(".md", "")).join("|")})\\.md((?:[\\s,;]|and|//|\\*|§\\d+(?:\\.\\d+)*(?:–\\d+(?:\\.\\d+)*)?|S\\d+|faults? \\d+(?:, \\d+)*)*)`,
  "g",
);
/** File names such as `0019-the-key-is-read-twice.md`. */
const decisions = new Set(new Glob("*.md").scanSync(DECISIONS));
const OF_A_DECISION = /\b\d{4}-[a-z][a-z0-9-]*\.md\b/g;
/** Matches `decision 18`, `decision 0018`, `decisions 18 and 19`, and a link's text: `[0019](…`. */
const BY_NUMBER = /\bdecisions? (\d+)((?:(?:,| and) \d+)*)\b|\[(\d{4})\]\(/gi;
const OF_THE_SPECIFICATION = /\bspecification (\d+(?:\.\d+)*)((?:(?:,| and) \d+(?:\.\d+)*)*)/g;

const broken: string[] = [];
let cited = 0;

const numbered = Map.groupBy(decisions, (name) => Number(name.slice(0, 4)));
for (const [number, names] of numbered) {
  if (names.length > 1) broken.push(`${DECISIONS} has number ${number} for ${names.toSorted().join(", ")}`);
  for (const name of names)
    if (!readFileSync(`${DECISIONS}/${name}`, "utf8").startsWith(`# ${number}. `))
      broken.push(`${DECISIONS}/${name} does not begin with "# ${number}. "`);
}
for (const path of new Set(CITING.flatMap((pattern) => [...new Glob(pattern).scanSync(".")]))) {
  const text = readFileSync(path, "utf8");
  const complain = (place: string): void => {
    broken.push(`${path} cites ${place}, which is not there`);
  };
  for (const [, name = "", places = ""] of text.matchAll(OF_A_PAPER)) {
    const paper = `${name}.md`;
    for (const [place, section, requirement, faults] of places.matchAll(
      /§(\d+(?:\.\d+)*)|(S\d+)|faults? (\d+(?:, \d+)*)/g,
    )) {
      const wanted = section ?? requirement;
      const all = wanted === undefined ? faults?.split(", ").map((fault) => `fault ${fault}`) : [wanted];
      for (const one of all ?? []) {
        cited += 1;
        if (!known(paper, one)) complain(`${paper} ${place}`);
      }
    }
  }
  for (const [name] of text.matchAll(OF_A_DECISION)) {
    cited += 1;
    if (!decisions.has(name)) complain(`the decision ${name}`);
  }
  for (const [, first, more = "", linked] of text.matchAll(BY_NUMBER)) {
    for (const number of [first ?? linked ?? "", ...more.split(/,| and/)]
      .map((part) => part.trim())
      .filter(Boolean)) {
      cited += 1;
      if (!numbered.has(Number(number))) complain(`decision ${number}`);
    }
  }
  for (const [, first = "", more = ""] of text.matchAll(OF_THE_SPECIFICATION)) {
    for (const place of [first, ...more.split(/,| and/)].map((part) => part.trim()).filter(Boolean)) {
      cited += 1;
      if (!specification.has(place)) complain(`the specification's ${place}`);
    }
  }
}
for (const line of broken) console.log(line);
console.log(`${cited} citations, ${broken.length} of them lead nowhere`);
process.exit(broken.length === 0 && cited > 0 ? 0 : 1);
