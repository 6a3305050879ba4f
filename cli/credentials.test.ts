import { afterAll, expect, test } from "bun:test";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Login, readLogins, writeLogin } from "./credentials.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-credentials-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a file of logins that is a link stays one, and what it leads to is replaced", () => {
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "kept.json"), '{"logins":{}}', { mode: 0o600 });
  const file = join(folder, "credentials.json");
  symlinkSync(join(elsewhere, "kept.json"), file);
  const login = { token: "t" } as unknown as Login;
  writeLogin("http://127.0.0.1:8080", login, file);
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readdirSync(elsewhere)).toEqual(["kept.json"]);
  expect(Object.keys(readLogins(join(elsewhere, "kept.json")))).toEqual(["http://127.0.0.1:8080"]);
});
