// A request's key is verified before anything of the request is accepted, read or parsed: a caller who knows only a
// key's prefix uses up nothing of its owner's, and is refused before the body is read (hardening.md §2.3, wire.md
// §4.2).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { mintKey, mintManagementKey } from "../../src/registry/secret.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { exchange, openSocket, statusOf } from "../support/raw.ts";
import { waitFor } from "../support/wait.ts";

const PER_MINUTE = 60;
/** Of a key that is to be over its rate: a slot is free again after half a minute, however slow the machine. */
const SLOWLY = 2;
const MEGABYTE = 1024 * 1024;

/** Which of a connection's answers have arrived. */
class Line {
  text = "";
  private constructor(private readonly socket: Socket) {
    socket.on("data", (bytes) => (this.text += bytes.toString("latin1")));
    socket.on("error", () => {});
  }

  static async open(url: string): Promise<Line> {
    const socket = openSocket(url);
    await new Promise((resolve) => socket.once("connect", resolve));
    return new Line(socket);
  }

  /** Resolves when the bytes have been sent. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve, reject) =>
      this.socket.write(bytes, (error) => (error ? reject(error) : resolve())),
    );
  }

  statuses(): string[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? "");
  }

  answers(count: number): Promise<void> {
    return waitFor(async () => this.statuses().length >= count, `${count} answers`);
  }

  end(): void {
    this.socket.destroy();
  }
}

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let victim: Customer;
  beforeAll(async () => {
    gateway = await startGateway({
      store,
      configure: (config) => (config.limits.keyRequestsPerMinute = PER_MINUTE),
    });
    victim = await gateway.customer({ usd: "50" });
  }, 120_000);
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  /** A key with the prefix of an existing one, and another secret. */
  const forged = (of = victim): string => mintKey(of).value;
  const head = (path: string, bearer: string | null, length: number, ...more: string[]): string =>
    [
      `${path} HTTP/1.1`,
      "Host: x",
      ...(bearer === null ? [] : [`Authorization: Bearer ${bearer}`]),
      "Content-Type: application/json",
      `Content-Length: ${length}`,
      ...more,
      "\r\n",
    ].join("\r\n");

  test("a thousand forged keys leave the owner's window as it was", async () => {
    expect(mintKey(victim).prefix).toBe(victim.secret.slice(0, mintKey(victim).prefix.length));
    const owner = await gateway.customer({ usd: "50" });
    // A slot is free again after ten seconds, however slow the machine.
    const places = 6;
    await gateway.admin("POST", "/limits", { key: owner.keyId, requests_per_minute: places });
    const secret = forged(owner);
    for (let n = 0; n < 1000; n += 50) {
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => gateway.chat<ErrorJson>({ ...owner, secret }, hello())),
      );
      expect(new Set(replies.map(({ status, json }) => `${status} ${json.error.code}`))).toEqual(
        new Set(["401 invalid_api_key"]),
      );
      expect(replies[0]?.headers.get("x-ratelimit-remaining-requests")).toBeNull();
    }
    const served = await Promise.all(Array.from({ length: places }, () => gateway.chat(owner, hello())));
    expect(new Set(served.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await gateway.chat(owner, hello())).status).toBe(429);
  });

  test.each<[string, () => Promise<string | null>, number]>([
    ["POST /v1/chat/completions", async () => forged(), 401],
    ["POST /v1/chat/completions/quote", async () => forged(), 401],
    ["POST /v1/messages", async () => forged(), 401],
    ["POST /v1/messages/count_tokens", async () => forged(), 401],
    ["POST /v1/messages/count_tokens", async () => (await revoked()).secret, 401],
    ["POST /v1/responses/input_tokens", async () => forged(), 401],
    ["POST /v1/chat/completions", async () => (await revoked()).secret, 401],
    ["POST /v1/chat/completions/quote", async () => (await revoked()).secret, 401],
    ["POST /v1/chat/completions", async () => null, 401],
    ["POST /v1/chat/completions", async () => mintManagementKey("mk_000000000000").value, 403],
    ["POST /admin/v1/keys", async () => mintManagementKey("mk_000000000000").value, 401],
    ["POST /admin/v1/keys", async () => forged(), 401],
    ["POST /admin/v1/keys", async () => victim.secret, 403],
    ["POST /app/v1/orgs/org_000000000000/keys", async () => null, 401],
    ["POST /app/v1/orgs/org_000000000000/playground", async () => null, 401],
    ["POST /webhooks/stripe", async () => null, 400],
  ])("%s is refused before its body arrives", async (path, bearer, status) => {
    const line = await Line.open(gateway.url);
    const origin = `Origin: ${gateway.url}`;
    await line.send(head(path, await bearer(), 200_000, origin) + '{"model":"');
    await line.answers(1);
    expect(line.statuses()).toEqual([String(status)]);
    // The rest of it is discarded, and the connection takes the next request.
    await line.send(Buffer.alloc(200_000 - 10, "x"));
    await line.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await line.answers(2);
    expect(line.statuses()).toEqual([String(status), "200"]);
    line.end();
  });

  async function revoked(): Promise<Customer> {
    const key = await gateway.key(victim.organizationId);
    await gateway.admin("POST", `/keys/${key.keyId}/revoke`);
    return key;
  }

  test.each(["/models", "/key", "/credits", "/generation?id=req_1", "/receipts/req_1"])(
    "GET %s tells a forged key what it tells a revoked one's stranger",
    async (path) => {
      const ask = async (secret: string): Promise<string> => {
        const reply = await gateway.get<ErrorJson>({ ...victim, secret }, `/v1${path}`);
        return `${reply.status} ${reply.json.error.code}`;
      };
      expect(await ask(forged())).toBe("401 invalid_api_key");
      expect(await ask((await revoked()).secret)).toBe("401 api_key_revoked");
    },
  );

  test("a client that insists on sending its 8 MB first can still read the 401", async () => {
    const size = 8 * MEGABYTE;
    const line = await Line.open(gateway.url);
    await line.send(head("POST /v1/chat/completions", forged(), size));
    for (let sent = 0; sent < size; sent += MEGABYTE) await line.send(Buffer.alloc(MEGABYTE, "x"));
    await line.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await line.answers(2);
    expect(line.statuses()).toEqual(["401", "200"]);
    line.end();
    const body = { ...hello(), messages: [{ role: "user", content: "x".repeat(size - 1000) }] };
    for (let round = 0; round < 5; round += 1)
      expect((await gateway.chat({ ...victim, secret: forged() }, body)).status).toBe(401);
  });

  test("a client that waits for 100 Continue is told to continue, or why not", async () => {
    const asked = head("POST /v1/chat/completions", forged(), 7 * MEGABYTE, "Expect: 100-continue");
    const reply = await exchange(gateway.url, asked, 500);
    expect(reply).toStartWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 ");
  });

  test("refusals based on headers about the body come before the key, those based on its content after it", async () => {
    const plain = head("POST /v1/chat/completions", forged(), 2).replace("application/json", "text/plain");
    expect(statusOf(await exchange(gateway.url, `${plain}{}`))).toBe(415);
    expect(statusOf(await exchange(gateway.url, head("POST /v1/chat/completions", forged(), 9e6)))).toBe(413);
    const chunked = head("POST /v1/chat/completions", forged(), 0).replace(
      "Content-Length: 0",
      "Transfer-Encoding: chunked",
    );
    expect(statusOf(await exchange(gateway.url, `${chunked}2\r\n{,\r\n`))).toBe(401);
  });

  test("a key revoked while its body arrives is revoked: COMMIT 1 reads it again", async () => {
    const key = await gateway.key(victim.organizationId);
    const body = JSON.stringify(hello());
    const line = await Line.open(gateway.url);
    await line.send(head("POST /v1/chat/completions", key.secret, body.length) + body.slice(0, 10));
    await Bun.sleep(200); // its key is verified by now, or will be found revoked at once
    await gateway.admin("POST", `/keys/${key.keyId}/revoke`);
    const calls = gateway.simulator.bill().length;
    await line.send(body.slice(10));
    await line.answers(1);
    expect(line.statuses()).toEqual(["401"]);
    expect(line.text).toContain("api_key_revoked");
    expect(gateway.simulator.bill()).toHaveLength(calls);
    line.end();
  });

  async function slow(): Promise<Customer> {
    const customer = await gateway.customer({ usd: "50" });
    await gateway.admin("POST", "/limits", { key: customer.keyId, requests_per_minute: SLOWLY });
    return customer;
  }

  test("over its rate a key is refused where COMMIT 1 decides, as soon as its body is there", async () => {
    const busy = await slow();
    await Promise.all(Array.from({ length: SLOWLY }, () => gateway.chat(busy, hello())));
    const body = JSON.stringify(hello());
    const calls = gateway.simulator.bill().length;
    const line = await Line.open(gateway.url);
    await line.send(head("POST /v1/chat/completions", busy.secret, body.length) + body);
    await line.answers(1);
    expect(line.statuses()).toEqual(["429"]);
    expect(line.text).toMatch(/retry-after: \d+\r\n/i);
    expect(line.text).toContain('"gateway":{"request_id"');
    expect(gateway.simulator.bill()).toHaveLength(calls);
    line.end();
  });

  test("over its rate a key is refused before its body arrives, unless it repeats an Idempotency-Key", async () => {
    const busy = await slow();
    const key = { "idempotency-key": `kept-${store}-answer` };
    const kept = await gateway.chat(busy, hello(), key);
    await Promise.all(Array.from({ length: SLOWLY - 1 }, () => gateway.chat(busy, hello())));
    const line = await Line.open(gateway.url);
    await line.send(`${head("POST /v1/chat/completions", busy.secret, 7 * MEGABYTE)}{`);
    await line.answers(1);
    expect(line.statuses()).toEqual(["429"]);
    expect(line.text).toMatch(/retry-after: \d+\r\n/i);
    expect(line.text).toMatch(/x-ratelimit-remaining-requests: 0\r\n/i);
    expect(line.text).toContain('"gateway":{"request_id"');
    line.end();
    const again = await gateway.chat(busy, hello(), key);
    expect([again.status, again.text]).toEqual([200, kept.text]);
    await gateway.admin("POST", "/limits", { key: busy.keyId, requests_per_minute: PER_MINUTE * 10 });
    expect((await gateway.chat(busy, hello())).status).toBe(200);
  });

  test("while the store is away every caller is told to come back, and nothing is read", async () => {
    const { ledger } = gateway;
    const [ready, real] = [ledger.ready(), ledger.checkKey.bind(ledger)];
    expect(ready).toBe(true);
    const { overloaded } = await import("../../src/domain/overloaded.ts");
    ledger.checkKey = () => Promise.reject(overloaded());
    try {
      const line = await Line.open(gateway.url);
      await line.send(`${head("POST /v1/chat/completions", victim.secret, 7 * MEGABYTE)}{`);
      await line.answers(1);
      expect(line.statuses()).toEqual(["503"]);
      expect(line.text).toMatch(/retry-after: 1\r\n/i);
      line.end();
    } finally {
      ledger.checkKey = real;
    }
  });
});
