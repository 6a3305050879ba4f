// Commands that keep running: `request tail`, `--watch`; and shell completion, against a gateway of the command line.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { ProcessGateway } from "../support/process-gateway.ts";
import { PROGRAM } from "../support/program.ts";
import { waitFor } from "../support/wait.ts";

let gateway: ProcessGateway;
let customer: { organizationId: string; secret: string };
beforeAll(async () => {
  gateway = await ProcessGateway.start();
  customer = await gateway.customer();
}, 120_000);
afterAll(() => gateway.stop());

const start = (...args: string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> =>
  Bun.spawn([PROGRAM, ...args, "--data-dir", join(gateway.folder, "data")], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = start(...args);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}

type Child = ReturnType<typeof start>;

/** A command's output so far. */
const outputs = new WeakMap<Child, { text: string }>();
function outputOf(child: Child): { text: string } {
  const found = outputs.get(child);
  if (found !== undefined) return found;
  const output = { text: "" };
  outputs.set(child, output);
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) output.text += decoder.decode(bytes, { stream: true });
  })();
  return output;
}

/** Waits until a command's output contains `word` so many times. */
async function prints(child: Child, word: string, times: number): Promise<void> {
  const output = outputOf(child);
  await waitFor(async () => output.text.split(word).length > times, `${times} × ${word}`);
}

/** A command's output until it contains `word` so many times; then it is ended. */
async function until(child: Child, word: string, times: number): Promise<string> {
  await prints(child, word, times);
  child.kill();
  await child.exited;
  return outputOf(child).text;
}

const ask = (content: string): Promise<unknown> =>
  gateway.chat(customer.secret, { model: "plain-1", messages: [{ role: "user", content }], max_tokens: 5 });

test("request list: answers and refusals, newest first, page by page, by state", async () => {
  await ask("one");
  await ask("two");
  await gateway.chat(customer.secret, {
    model: "nobody-knows-it",
    messages: [{ role: "user", content: "x" }],
  });
  const list = async (
    ...more: string[]
  ): Promise<{ data: { id: string; state: string }[]; next_cursor: string | null }> =>
    JSON.parse((await run("request", "list", "--org", customer.organizationId, "--json", ...more)).out);
  const { data } = await list();
  expect(data.map(({ state }) => state)).toEqual(["refused", "settled", "settled"]);
  const first = await list("--limit", "2");
  const rest = await list("--limit", "2", "--cursor", first.next_cursor ?? "");
  expect([...first.data, ...rest.data]).toEqual(data);
  expect((await list("--status", "refused")).data).toEqual(data.slice(0, 1));
  expect(await run("request", "list", "--org", "org_unknown")).toMatchObject({ code: 1, out: "" });
});

test("request tail prints each request that ends, once; it is no JSON document", async () => {
  const tail = start("request", "tail", "--org", customer.organizationId, "--status", "settled");
  await prints(tail, "settled", 2); // the two earlier ones
  await Promise.all([ask("three"), ask("four")]);
  const lines = (await until(tail, "settled", 4)).trim().split("\n");
  expect(lines.length).toBe(4);
  expect(new Set(lines).size).toBe(4);
  const refused = await run("request", "tail", "--org", customer.organizationId, "--json");
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("cannot be combined") });
}, 120_000);

/** More than one list of the newest holds. */
const OVERTAKING = 220;

test("request tail prints a request that hundreds of later ones overtake, once it ends", async () => {
  const { organizationId, secret } = await gateway.customer();
  const call = { model: "plain-1", messages: [{ role: "user", content: "x" }], max_tokens: 1 };
  const tails = [[], ["--status", "settled"]].map((filter) =>
    start("request", "tail", "--org", organizationId, ...filter),
  );
  gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
  const slow = gateway.chat(secret, call);
  await waitFor(async () => gateway.simulator.bill().at(-1)?.outcome === "running", "the slow one");
  // Whoever has printed a later one has seen it run.
  const later = (await gateway.chat(secret, call)).headers.get("x-request-id") ?? "";
  await Promise.all(tails.map((tail) => prints(tail, later, 1)));
  const lanes = Array.from({ length: 10 }, async () => {
    for (let n = 0; n < OVERTAKING / 10; n += 1) await gateway.chat(secret, call);
  });
  await Promise.all(lanes);
  gateway.simulator.behaveWell();
  const { status, headers } = await slow;
  expect(status).toBe(200);
  const id = headers.get("x-request-id") ?? "";
  for (const tail of tails) expect((await until(tail, id, 1)).split(id)).toHaveLength(2);
}, 120_000);

test("--watch shows a list again and again, and picks up changes", async () => {
  const watch = until(start("usage", "--org", customer.organizationId, "--watch", "0.2"), "REQUESTS", 4);
  expect((await watch).match(/^total +4 /gm)?.length).toBeGreaterThanOrEqual(3);
  const routes = until(start("route", "list", "--watch", "0.1"), "disabled", 1);
  const [{ route }] = (await gateway.admin<{ data: [{ route: string }] }>("GET", "/routes")).data;
  await gateway.admin("POST", "/routes/disable", { route });
  expect(await routes).toContain("disabled");
  expect(await run("route", "list", "--watch", "never")).toMatchObject({ code: 2 });
  expect(await run("route", "list", "--watch", "--json")).toMatchObject({ code: 2 });
}, 120_000);

test.each([
  ["tollgate ", ["keys", "request", "completion"]],
  ["tollgate keys cr", ["create"]],
  ["tollgate request tail --s", ["--status"]],
  ["tollgate keys limit key_1 --u", ["--url", "--usd"]],
  ["tollgate completion f", ["fish"]],
])("bash completes %p", async (typed, expected) => {
  const words = typed.split(" ").map((word) => `"${word}"`);
  const script = `${(await run("completion", "bash")).out}
    COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _tollgate; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const bash = Bun.spawn(["bash", "-c", script], { stdout: "pipe", stderr: "pipe" });
  expect([await bash.stderr.text(), (await bash.stdout.text()).split("\n")]).toEqual([
    "",
    expect.arrayContaining(expected),
  ]);
});
