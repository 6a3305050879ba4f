// SIGTERM at the worst moment. Found by torture, seed 3: the port was open before anybody listened to the signal.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../torture/gateway-process.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-stop-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a gateway that is told to stop as soon as its port answers drains and exits 0", async () => {
  const port = freePort();
  const { DATABASE_URL: _, ...environment } = process.env;
  const root = join(import.meta.dir, "../..");
  const gateway = Bun.spawn(
    [join(root, "tollgate"), "serve", "--port", String(port), "--data-dir", join(directory, "data")],
    { env: environment, stdin: "ignore", stdout: "ignore", stderr: "inherit" },
  );
  while (!(await answers(port))) await Bun.sleep(0);
  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
  expect(gateway.signalCode).toBeNull();
});

const answers = (port: number): Promise<boolean> =>
  Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );
