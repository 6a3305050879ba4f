// The demo's signing key: one that cannot be read or used refuses the start by its name, and is never replaced by itself.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDemoKey } from "./demo.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-demo-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["nothing", ""],
  ["half a key", '{"kty":"OKP"'],
  ["another kind of key", '{"kty":"RSA","n":"AQAB"}'],
  ["an x that is none", '{"kty":"OKP","crv":"Ed25519","x":"!","d":"!"}'],
])("%s in its file is told with the file and the way out, and left as it is", async (_, content) => {
  const path = join(mkdtempSync(join(folder, "a-")), "demo-release.private.jwk");
  writeFileSync(path, content);
  const said = await ensureDemoKey(join(path, "..")).then(() => "", String);
  expect(said).toStartWith(`Error: ${path}, which signs the demo models, cannot be used (`);
  expect(said).toContain("put it back from a backup, or move it away");
  expect(readFileSync(path, "utf8")).toBe(content);
});

test("a folder in its place is told", async () => {
  const dataDir = mkdtempSync(join(folder, "b-"));
  mkdirSync(join(dataDir, "demo-release.private.jwk"));
  const said = await ensureDemoKey(dataDir).then(() => "", String);
  expect(said).toContain("demo-release.private.jwk, which signs the demo models, cannot be used (EISDIR");
});

test("what was made is read again, and is one key", async () => {
  const dataDir = join(folder, "new");
  const [first, second] = [await ensureDemoKey(dataDir), await ensureDemoKey(dataDir)];
  expect(second.key.kid).toBe(first.key.kid);
});
