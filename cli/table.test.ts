import { describe, expect, test } from "bun:test";
import { dollars, fields, plain, table } from "./table.ts";

describe("amounts", () => {
  test.each([
    ["5.000000000", "$5.00"],
    ["0.000133500", "$0.0001335"],
    ["0.000000001", "$0.000000001"],
    ["1234.500000000", "$1234.50"],
    ["-0.250000000", "$-0.25"],
    ["0.000000000", "$0.00"],
    ["100.000000000", "$100.00"],
  ])("%s is shown exactly as %s", (usd, shown) => expect(dollars(usd)).toBe(shown));
  test("no limit shows no amount", () => expect(dollars(null)).toBeNull());
});

describe("names from outside", () => {
  test("escape sequences and direction overrides cannot drive the terminal", () => {
    expect(plain("a\u001b[2Jb\u202ec\u0007")).toBe("a·[2Jb·c·");
  });
  test("a line break cannot forge a row", () => {
    const rows = table([{ name: "a\nkey_2  revoked" }], { NAME: ({ name }) => name });
    expect(rows.split("\n")).toHaveLength(2);
  });
});

test("columns line up, wide characters included", () => {
  const rows = [
    { id: "1", name: "模型" },
    { id: "22", name: "b" },
  ];
  const printed = table(rows, { NAME: ({ name }) => name, ID: ({ id }) => id }).split("\n");
  expect(printed).toEqual(["NAME  ID", "模型   1", "b     22"]);
});

test("an empty table says that there is nothing yet", () => expect(table([], {})).toBe("Nothing here yet."));

test("a record is one field per line", () => {
  expect(fields({ id: "org_1", spent: null })).toBe("id     org_1\nspent  –");
});

test("a table wider than the terminal becomes a record per row, with one field per line", () => {
  const rows = [
    { id: "key_1", name: "a" },
    { id: "key_2", name: null },
  ];
  const columns = {
    ID: ({ id }: (typeof rows)[0]) => id,
    NAME: ({ name }: (typeof rows)[0]) => name,
  };
  expect(table(rows, columns, 11)).toBe("ID     NAME\nkey_1  a\nkey_2  –");
  expect(table(rows, columns, 10)).toBe("ID    key_1\nNAME  a\n\nID    key_2\nNAME  –");
});

test("figures are right-aligned, amounts by their decimal points", () => {
  const rows = [
    { n: 7, usd: "$0.0003", name: "a" },
    { n: 1200, usd: "$12.50", name: "b" },
    { n: null, usd: null, name: "c" },
  ];
  const columns = {
    N: ({ n }: (typeof rows)[0]) => n,
    CHARGE: ({ usd }: (typeof rows)[0]) => usd,
    NAME: ({ name }: (typeof rows)[0]) => name,
  };
  expect(table(rows, columns).split("\n")).toEqual([
    "   N    CHARGE  NAME",
    "   7   $0.0003  a",
    "1200  $12.50    b",
    "   –         –  c",
  ]);
});

test("figures are right-aligned on a narrow terminal, too", () => {
  const rows = [
    { name: "a name of several words", usd: "$0.0003" },
    { name: "b", usd: "$12.50" },
  ];
  const columns = {
    NAME: ({ name }: (typeof rows)[0]) => name,
    CHARGE: ({ usd }: (typeof rows)[0]) => usd,
  };
  expect(table(rows, columns, 30).split("\n")).toEqual([
    "NAME                    CHARGE",
    "a name of several      $0.0003",
    "words",
    "b                     $12.50",
  ]);
});

test("on a narrow terminal times are cut to the minute and words are wrapped; ids and figures stay whole", () => {
  const rows = [
    { id: "org_GmVkiC62a2y4", name: "Northwind Robotics of the north", at: "2026-11-12T17:50:39.248Z" },
    { id: "org_rNNPUv2oxobR", name: "Gesellschaft_fuer_Informationsverarbeitung", at: null },
  ];
  const columns = {
    ID: ({ id }: (typeof rows)[0]) => id,
    NAME: ({ name }: (typeof rows)[0]) => name,
    CREATED: ({ at }: (typeof rows)[0]) => at,
  };
  expect(table(rows, columns, 58).split("\n")).toEqual([
    "ID                NAME                   CREATED",
    "org_GmVkiC62a2y4  Northwind Robotics of  2026-11-12T17:50Z",
    "                  the north",
    "org_rNNPUv2oxobR  Gesellschaft_fuer_Inf  –",
    "                  ormationsverarbeitung",
  ]);
  expect(table(rows, columns, 50)).toStartWith("ID       org_GmVkiC62a2y4\nNAME     Northwind");
});
