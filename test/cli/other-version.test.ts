// The command line with a gateway of another version, whose answers lack fields that this program prints: for a
// change that was made it prints the whole answer, above all a secret; a reading command says why it prints nothing.
import { afterAll, expect, test } from "bun:test";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

/** A key as returned by gateways without daily limits of keys. */
const OLDER_KEY = { id: "key_1", org: "org_1", name: "n", scope: "standard", secret: "gw_sk_shown_once" };
const OLDER_USAGE = { data: [{ group: "plain-1", requests: 1, input_tokens: 2, charge_usd: "0.000100000" }] };

const older = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/admin/v1/keys": { POST: () => Response.json(OLDER_KEY, { status: 201 }) },
    "/admin/v1/usage": () => Response.json(OLDER_USAGE),
    "/admin/v1/limits": () => refusal(400, "unknown_parameter", "tokens_per_minute"),
  },
  fetch: () => refusal(404, "unknown_url", null),
});
afterAll(() => older.stop(true));

const refusal = (status: number, code: string, param: string | null): Response =>
  Response.json({ error: { message: "No.", type: "x", code, param, request_id: "req_1" } }, { status });

const run = (...words: string[]): Promise<Ran> =>
  runToEnd(PROGRAM, [...words, "--url", older.url.origin, "--token", "gw_mk_1"]);
const OTHER_VERSION = "another version than this command line";

test.concurrent("a new key is printed with its secret, though the rest cannot be formatted", async () => {
  const made = await run("keys", "create", "--org", "org_1", "--name", "n");
  expect([made.code, JSON.parse(made.out)]).toEqual([0, OLDER_KEY]);
  expect(made.err).toContain(`Done, by a gateway of ${OTHER_VERSION}`);
  const json = await run("keys", "create", "--org", "org_1", "--name", "n", "--json");
  expect([json.code, JSON.parse(json.out), json.err]).toEqual([0, OLDER_KEY, ""]);
});

test.concurrent("missing figures give no table: it says why, and that --json shows what there is", async () => {
  const read = await run("usage", "--org", "org_1", "--group-by", "model", "--csv");
  expect([read.code, read.out]).toEqual([1, ""]);
  expect(read.err).toContain(OTHER_VERSION);
  expect(read.err).toContain("--json");
});

test.concurrent("a command or a setting that the gateway does not know is reported as such", async () => {
  const command = await run("keys", "pause", "key_1");
  const setting = await run("limits", "set", "--org", "org_1", "--tokens-per-minute", "5");
  for (const { code, out, err } of [command, setting]) {
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(OTHER_VERSION);
  }
  expect(setting.err).toContain("tokens_per_minute");
});
