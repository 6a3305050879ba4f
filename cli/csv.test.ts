import { expect, test } from "bun:test";
import { csv } from "./csv.ts";

test("commas, quotes and line breaks are quoted, lines end with CRLF", () => {
  expect(
    csv(
      ["a", "b"],
      [
        ["x,y", 'say "hi"'],
        ["two\nlines", 3],
      ],
    ),
  ).toBe('a,b\r\n"x,y","say ""hi"""\r\n"two\nlines",3');
});

test("text after a semicolon starts a new cell where the semicolon is the separator", () => {
  expect(csv(["a"], [["a;=1+1"]])).toBe("a\r\na;'=1+1");
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "＝1"])(
  "a spreadsheet does not run %j as a formula",
  (cell) => {
    expect(
      csv(["a"], [[cell]])
        .split("\r\n")
        .slice(1)
        .join("\r\n"),
    ).toContain(`'${cell}`);
  },
);

test("numbers stay numbers", () => expect(csv(["a"], [[-1]])).toBe("a\r\n-1"));
