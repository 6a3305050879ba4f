// A stream whose gateway dies before a token of it was provably delivered: nothing is settled and nothing is stored, and
// those who follow it on another gateway are told so in the way of every interrupted stream (wire.md §3.3).
import { expect, test } from "bun:test";
import { ProcessGateway, untilParts } from "../support/process-gateway.ts";
import { testPostgres } from "../support/postgres.ts";

test("a follower of a stream whose gateway died with nothing settled gets an error event, and nobody logs a bug", async () => {
  const database = await (await testPostgres()).database();
  const env = { DATABASE_URL: database.url, TOLLGATE_LOG_LEVEL: "error" };
  const owner = await ProcessGateway.start(env);
  const other = await owner.beside(env);
  try {
    const { secret, organizationId } = await owner.customer();
    // One word and then silence: it is sent and kept, but tokens are counted up to a word that has ended.
    const behaviour = { text: "Supercalifragilisticexpialidocious", hang_after_events: 2 };
    await fetch(`${owner.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });
    const body = { model: "plain-1", stream: true, messages: [{ role: "user", content: "Tell me" }] };
    const headers = { "idempotency-key": "died-with-nothing" };
    const doomed = owner.listen(secret, body, headers);
    await untilParts([doomed], 2);
    const follower = other.listen(secret, body, headers);
    await untilParts([follower], 2); // what is kept of it reaches others
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
    expect(gateway).toMatchObject({ idempotency: { key: "died-with-nothing", caller_supplied: true } });
    const retry = await other.chat(secret, body, headers);
    expect([retry.status, retry.text.includes("idempotency_outcome_unknown")]).toEqual([409, true]);
    expect(await owner.admin("GET", `/credits?org=${organizationId}`)).toMatchObject({
      spent_usd: "0.000000000",
      held_usd: "0.000000000",
    });
    await other.kill("SIGTERM");
    expect(other.log).toBe("");
  } finally {
    await other.stop();
    await owner.stop();
    await database.drop();
  }
}, 120_000);
