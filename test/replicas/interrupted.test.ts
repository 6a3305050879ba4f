// A stream whose gateway dies in the middle of its first word: followers on another gateway are told so as for every
// interrupted stream (wire.md §3.3), what reached them is charged, and a retry gets the same.
import { expect, test } from "bun:test";
import { ProcessGateway, untilParts } from "../support/process-gateway.ts";
import { testPostgres } from "../support/postgres.ts";

test("a follower of a stream whose gateway died in its first word gets an error event, and nobody logs a bug", async () => {
  const database = await (await testPostgres()).database();
  const env = { DATABASE_URL: database.url, TOLLGATE_LOG_LEVEL: "error" };
  const owner = await ProcessGateway.start(env);
  const other = await owner.beside(env);
  try {
    const { secret, organizationId } = await owner.customer();
    // One endless word, and then silence.
    const behaviour = { text: "Supercalifragilisticexpialidocious", hang_after_events: 2 };
    await fetch(`${owner.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });
    const body = { model: "plain-1", stream: true, messages: [{ role: "user", content: "Tell me" }] };
    const headers = { "idempotency-key": "died-in-a-word" };
    const doomed = owner.listen(secret, body, headers);
    await untilParts([doomed], 2);
    const follower = other.listen(secret, body, headers);
    await untilParts([follower], 2); // others see what is stored of it
    await owner.kill();
    const cut = await doomed.ended;
    await owner.run(env); // ends what it left
    const followed = await follower.ended;
    expect([followed.status, followed.whole]).toEqual([200, true]);
    expect(cut.text).toContain('"content":"');
    expect(followed.text.startsWith(cut.text)).toBe(true);
    const events = followed.text.slice(cut.text.length);
    const [, id, data = ""] = /^id: (\d+)\ndata: (.*)\n\n$/.exec(events) ?? [];
    expect(Number(id)).toBe(cut.text.split("\n\n").length);
    const { error, gateway } = JSON.parse(data) as Record<string, Record<string, unknown>>;
    expect(error).toMatchObject({ code: "provider_error", type: "server_error", param: null });
    expect(error?.["request_id"]).toBe(gateway?.["request_id"]);
    expect(gateway).toMatchObject({ idempotency: { key: "died-in-a-word", caller_supplied: true } });
    const retry = await other.chat(secret, body, headers);
    expect([retry.status, retry.text]).toEqual([200, followed.text]);
    const credits = await owner.admin<Record<string, string>>("GET", `/credits?org=${organizationId}`);
    expect(credits["held_usd"]).toBe("0.000000000");
    expect(Number(credits["spent_usd"])).toBeGreaterThan(0);
    await other.kill("SIGTERM");
    expect(other.log).toBe("");
  } finally {
    await other.stop();
    await owner.stop();
    await database.drop();
  }
}, 120_000);
