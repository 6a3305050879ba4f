// Wrong usage is answered with the help of the command that was typed, not with the list of all.
import { expect, test } from "bun:test";
import { whereHelpIs } from "./command.ts";
import { buildProgram } from "./program.ts";

const ALL = "./tollgate help lists the commands; add --help to one for its options.";

test.each([
  [[], ALL],
  [["kyes", "list"], ALL],
  [["--json", "keys"], "./tollgate keys --help lists its commands."],
  [["keys", "lst"], "./tollgate keys --help lists its commands."],
  [["keys", "create", "--org"], "./tollgate keys create --help lists its options, with an example."],
  [["keys", "create", "--name", "list"], "./tollgate keys create --help lists its options, with an example."],
  [["--url", "http://gate.example", "usage"], "./tollgate usage --help lists its options, with an example."],
])("after %j: %s", (argv, next) => expect(whereHelpIs(buildProgram(false), argv)).toBe(next));
