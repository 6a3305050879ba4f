// The command line's help: each command names what it needs and gives a valid example; a typo is answered with the
// nearest match, before any call (exit code 2).
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { buildProgram } from "../../cli/program.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";

/** Every command by its words, including those that only group others. */
function commandsOf(command: Command, path: string[] = []): { path: string[]; command: Command }[] {
  const below = command.commands.flatMap((child) => commandsOf(child, [...path, child.name()]));
  return [{ path, command }, ...below];
}
const all = commandsOf(buildProgram(false));

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return text;
}
const exampleIn = (help: string): string => /^ {2}\.\/tollgate (.+)$/m.exec(help)?.[1] ?? "no example";

describe.each(all.map(({ path, command }) => ({ name: ["tollgate", ...path].join(" "), path, command })))(
  "$name --help",
  ({ path, command }) => {
    test("names what it needs, in its first line and in its list", () => {
      const help = helpOf(command);
      const [usage = ""] = help.split("\n");
      let needed = 0;
      for (const { mandatory, flags } of command.options) {
        if (!mandatory) continue;
        expect(usage).toContain(` ${flags}`);
        needed += 1;
      }
      expect(help.split("(required)").length - 1).toBe(needed);
    });
    test("gives an example, which it takes", async () => {
      const example = exampleIn(helpOf(command));
      const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, plain]) => quoted ?? plain ?? "",
      );
      expect(words.slice(0, path.length)).toEqual(path);
      const program = buildProgram(false);
      const ran: string[][] = [];
      for (const one of commandsOf(program)) {
        one.command.configureOutput({ writeErr: () => {} });
        if (one.command.commands.length === 0) one.command.action(() => void ran.push(one.path));
      }
      await program.parseAsync(words, { from: "user" });
      expect(ran).toHaveLength(1);
      const isLeaf = command.commands.length === 0;
      expect(ran[0]).toEqual(isLeaf ? path : words.slice(0, ran[0]?.length));
    });
  },
);

describe("a slip", () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-help-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = (...args: string[]): Promise<Ran> =>
    runToEnd(PROGRAM, args, { cwd: folder, env: { PATH: process.env["PATH"] ?? "" } });

  const SLIPS: [args: string[], meant: string][] = [
    [["kyes", "list"], "keys"],
    [["keys", "craete"], "create"],
    [["keys", "create", "--org", "o", "--nmae", "x"], "--name"],
    [["keys", "list", "--orgg", "o"], "--org"],
    [["org", "list", "--jsn"], "--json"],
    [["org", "list", "--dat-dir", "x"], "--data-dir"],
    [["keys", "create", "--org", "o", "--name", "n", "--scope", "standart"], "standard"],
    [["credits", "grant", "--org", "o", "--usd", "1", "--kind", "purchas"], "purchase"],
    [["members", "role", "p", "--org", "o", "--role", "admn"], "admin"],
    [["invitations", "send", "a@example.com", "--org", "o", "--role", "onwer"], "owner"],
    [["alerts", "add", "--org", "o", "--kind", "balance_bellow"], "balance_below"],
    [["usage", "--org", "o", "--group-by", "modle"], "model"],
    [["request", "list", "--org", "o", "--status", "runnin"], "running"],
    [["request", "tail", "--org", "o", "--surface", "chat.completion"], "chat.completions"],
    [["setup", "codx"], "codex"],
    [["completion", "bsh"], "bash"],
  ];
  test.concurrent.each(SLIPS.map(([args, meant]) => ({ typed: args.join(" "), args, meant })))(
    "$typed: did you mean $meant?",
    async ({ args, meant }) => {
      const { code, out, err } = await run(...args);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain(`Did you mean ${meant}?`);
    },
  );

  const EMPTY: [args: string[], option: string][] = [
    [["keys", "list", "--org", "--json"], "--org <org>"],
    [["credits", "grant", "--org", "--usd", "5"], "--org <org>"],
    [["usage", "--org", "--group-by", "key"], "--org <org>"],
    [["org", "list", "--url", "--json"], "--url <url>"],
    [["keys", "update", "key_x", "--models", "--name", "n"], "--models <ids>"],
  ];
  test.concurrent.each(EMPTY.map(([args, option]) => ({ typed: args.join(" "), args, option })))(
    "$typed: a value that is missing, as of a variable that is not set, is no other option",
    async ({ args, option }) => {
      const { code, err } = await run(...args);
      expect([code, err]).toEqual([2, expect.stringContaining(`option '${option}' argument missing`)]);
    },
  );

  test("in a value is answered with all valid values", async () => {
    const { code, out } = await run(
      "keys",
      "create",
      "--org",
      "o",
      "--name",
      "n",
      "--scope",
      "all",
      "--json",
    );
    const { error } = JSON.parse(out) as { error: { message: string; code: string } };
    expect([code, error.code]).toEqual([2, "wrong_usage"]);
    expect(error.message).toContain("It must be standard or research.");
    expect(error.message).not.toContain("Did you mean");
  });
});
