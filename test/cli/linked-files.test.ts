// An operator who keeps the store, the people or the data key on another disk links to them: whatever replaces the file
// goes where the link leads, and the link stays. A backup may be named by a link, too.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { firstRunToken } from "../../src/people/first-run.ts";
import { sessionSecret } from "../../src/people/store.ts";
import { Browser, PASSWORD } from "../support/browser.ts";
import { ProcessGateway, type Received } from "../support/process-gateway.ts";
import { SmallDisk } from "../support/small-disk.ts";

const PATIENCE_MS = 120_000;
const ASK = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 60 };
const LINKED = ["tollgate.sqlite", "people.sqlite", "data.key"];

let gateway: ProcessGateway;
let dataDir: string;
let secret: string;
let answer: Received;
/** Another disk where one can be mounted: what is renamed from one to the other fails there. */
const disk = SmallDisk.mount(120);

beforeAll(async () => {
  gateway = await ProcessGateway.start();
  dataDir = join(gateway.folder, "data");
  ({ secret } = await gateway.customer());
  answer = await keyed();
  const token = firstRunToken(sessionSecret(readFileSync(join(dataDir, "data.key"))), Date.now());
  const root = { token, name: "Root", email: "root@example.com", password: PASSWORD };
  await new Browser(gateway.url).app("POST /welcome", {}, root);
  await gateway.kill("SIGTERM");
  for (const name of LINKED) {
    // A store that was stopped may still have its log beside it.
    for (const file of [name, `${name}-wal`]) {
      if (!existsSync(join(dataDir, file))) continue;
      await Bun.write(join(disk.path, file), Bun.file(join(dataDir, file)));
      rmSync(join(dataDir, file));
    }
    symlinkSync(join(disk.path, name), join(dataDir, name));
  }
}, PATIENCE_MS);
afterAll(async () => {
  await gateway.stop();
  disk.release();
}, PATIENCE_MS);

const keyed = (): Promise<Received> => gateway.chat(secret, ASK, { "idempotency-key": "one-of-before" });

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await gateway.cli({}, ...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.any(String) });
  return stdout;
}

/** The links are as the operator made them. */
function assertLinked(): void {
  for (const name of LINKED)
    expect([name, lstatSync(join(dataDir, name)).isSymbolicLink()]).toEqual([name, true]);
}

test(
  "a changed data key is where the link leads, with the old one beside it",
  async () => {
    const old = readFileSync(join(dataDir, "data.key"));
    await done("db", "rotate-key");
    assertLinked();
    expect(readFileSync(join(disk.path, "data.key")).equals(old)).toBe(false);
    const kept = readdirSync(disk.path).filter((name) => name.startsWith("data.key.before-"));
    expect(kept.map((name) => readFileSync(join(disk.path, name)).equals(old))).toEqual([true]);
    await gateway.run();
    expect((await keyed()).text).toBe(answer.text);
    await gateway.kill("SIGTERM");
  },
  PATIENCE_MS,
);

test.each(["", "restore_verified", "restore_aside", "restore_set_aside", "restore_reported"])(
  "a restore of a backup named by a link, killed at %j and run again: the store and the people are where the links lead",
  async (at) => {
    const file = join(gateway.folder, `backup${at}`);
    await done("db", "backup", file);
    expect(existsSync(`${file}.people`)).toBe(true);
    const latest = join(gateway.folder, `latest${at}`);
    symlinkSync(file, latest);
    if (at !== "")
      expect((await gateway.cli({ TOLLGATE_CRASH_AT: at }, "db", "restore", latest)).code).not.toBe(0);
    const { people, kept } = JSON.parse(await done("--json", "db", "restore", latest)) as {
      people: string | null;
      kept: string[];
    };
    expect(people).toBe(`${file}.people`);
    assertLinked();
    for (const path of kept) expect(path).toStartWith(disk.path);
    await gateway.run();
    expect((await keyed()).text).toBe(answer.text);
    await gateway.kill("SIGTERM");
  },
  PATIENCE_MS,
);

test(
  "a data directory that is a link stays one",
  async () => {
    const real = join(gateway.folder, "elsewhere");
    renameSync(dataDir, real);
    symlinkSync(real, dataDir);
    const file = join(gateway.folder, "of-a-link");
    await done("db", "backup", file);
    await done("db", "restore", file);
    expect(lstatSync(dataDir).isSymbolicLink()).toBe(true);
    assertLinked();
  },
  PATIENCE_MS,
);
