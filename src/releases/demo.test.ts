// The demo's signing key: an unreadable or unusable file refuses the start by name, and is never replaced
// automatically.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demoKeys } from "./demo.ts";
import { generateReleaseKey } from "./release-key.ts";

const DATA_KEY = new Uint8Array(32).fill(7);

const folder = mkdtempSync(join(tmpdir(), "tollgate-demo-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["nothing", ""],
  ["half a key", '{"kty":"OKP"'],
  ["another kind of key", '{"kty":"RSA","n":"AQAB"}'],
  ["an x that is none", '{"kty":"OKP","crv":"Ed25519","x":"!","d":"!"}'],
])("%s in its file is reported with the file and the remedy, and left unchanged", async (_, content) => {
  const path = join(mkdtempSync(join(folder, "a-")), "demo-release.private.jwk");
  writeFileSync(path, content);
  const error = await demoKeys({ dataDir: join(path, ".."), dataKey: DATA_KEY }).catch(
    (caught: unknown) => caught,
  );
  expect(String(error)).toStartWith(
    `Error: ${path}, the key an earlier version signed the demo models with, cannot be used (`,
  );
  expect(error).toMatchObject({ next: "Move it away: the next start signs them again." });
  expect(readFileSync(path, "utf8")).toBe(content);
});

test("a directory in its place is reported", async () => {
  const dataDir = mkdtempSync(join(folder, "b-"));
  mkdirSync(join(dataDir, "demo-release.private.jwk"));
  const said = await demoKeys({ dataDir, dataKey: DATA_KEY }).then(() => "", String);
  expect(said).toContain(
    "demo-release.private.jwk, the key an earlier version signed the demo models with, cannot be used (EISDIR",
  );
});

test("gateways with one data key share one release key, others have another; an earlier program's stays trusted", async () => {
  const dataDir = mkdtempSync(join(folder, "c-"));
  const { privateJwk, kid } = await generateReleaseKey();
  writeFileSync(join(dataDir, "demo-release.private.jwk"), JSON.stringify(privateJwk));
  const [earlier, fresh, other] = [
    await demoKeys({ dataDir, dataKey: DATA_KEY }),
    await demoKeys({ dataDir: join(folder, "none"), dataKey: DATA_KEY }),
    await demoKeys({ dataDir: join(folder, "none"), dataKey: new Uint8Array(32).fill(8) }),
  ];
  expect(earlier.key.kid).toBe(fresh.key.kid);
  expect([...earlier.trusted.keys()]).toEqual([fresh.key.kid, kid]);
  expect([...fresh.trusted.keys()]).toEqual([fresh.key.kid]);
  expect(other.key.kid).not.toBe(fresh.key.kid);
});
