// What a log line may contain (hardening.md S36): a header with a credential never appears in it, wherever it
// is placed.
import { expect, test } from "bun:test";
import { CREDENTIAL_HEADERS } from "../domain/credential.ts";
import { createLog } from "./log.ts";

const SECRET = "gw_sk_canary";

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog("trace", { write: (line) => void lines.push(line) }));
  expect(lines).toHaveLength(1);
  return lines.join("");
}

for (const name of [...CREDENTIAL_HEADERS, "cookie", "set-cookie"])
  test(`${name} is redacted in a line, in its headers, and in those of an error`, () => {
    const headers = { [name]: SECRET, host: "h" };
    for (const line of [
      headers,
      { headers },
      { request: { headers } },
      { err: Object.assign(new Error("refused"), { headers }) },
    ])
      expect(logged((log) => log.error(line, "said"))).not.toContain(SECRET);
  });

test("other fields are not redacted", () => {
  expect(logged((log) => log.info({ provider: "acme", status: 429 }))).toMatch(
    /"provider":"acme","status":429/,
  );
});

test("a module that cannot be loaded is named", async () => {
  const missing = "./no-such-module.ts";
  const err = await import(missing).catch((error: unknown) => error);
  const line = JSON.parse(logged((log) => log.error({ err }, "said"))) as { err: { message: string } };
  expect(line.err.message).toContain("no-such-module");
});
