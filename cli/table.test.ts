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
  expect(printed).toEqual(["NAME  ID", "模型  1", "b     22"]);
});

test("nothing is said about nothing", () => expect(table([], {})).toBe("Nothing here yet."));

test("a record is one field per line", () => {
  expect(fields({ id: "org_1", spent: null })).toBe("id     org_1\nspent  –");
});

test("what is wider than the terminal is a record for each row, each field on a line of its own", () => {
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
