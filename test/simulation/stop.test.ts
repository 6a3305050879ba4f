// Starts and stops at the worst moment, both found by torture: SIGTERM before its handler is installed though the
// port was open (seed 3), and a start that failed at its last step and left a gateway without a store behind (seed
// 2026).
import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../torture/gateway-process.ts";
import { PROGRAM } from "../support/program.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-stop-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a gateway that is told to stop as soon as its port answers drains and exits 0", async () => {
  const port = freePort();
  const gateway = serve(port, join(directory, "data"));
  while (!(await answers(port))) await Bun.sleep(0);
  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
  expect(gateway.signalCode).toBeNull();
});

test("a start that fails after its port has opened closes it again and exits 1", async () => {
  const dataDir = join(directory, "unwritable");
  mkdirSync(join(dataDir, "operator.json"), { recursive: true }); // a folder in place of a file
  chmodSync(dataDir, 0o700);
  const gateway = serve(freePort(), dataDir);
  expect(await gateway.exited).toBe(1);
});

function serve(port: number, dataDir: string): Bun.Subprocess {
  const { DATABASE_URL: _, ...environment } = process.env;
  return Bun.spawn([PROGRAM, "serve", "--port", String(port), "--data-dir", dataDir], {
    env: environment,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
}

const answers = (port: number): Promise<boolean> =>
  Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );
