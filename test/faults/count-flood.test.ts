// Prompts made to take long to count: two million random ideographs, from one organization, with credits and without.
// Another one streams from a provider that reports no usage, so that each of its answers must be counted before it
// ends.
import { expect, test } from "bun:test";
import { readEvents } from "../support/events.ts";
import { PLAIN } from "../support/models.ts";
import { ProcessGateway } from "../support/process-gateway.ts";

const FLOOD = 40;
const CHARACTERS = 2_000_000;
/** Its window takes them all, and a dollar does not pay for them. */
const WIDE = {
  ...PLAIN,
  model: "wide-1",
  context_window: 16_000_000,
  max_output_tokens: 100,
  default_output_tokens: 100,
};

function ideographs(characters: number): string {
  const codes = new Uint16Array(characters);
  for (let index = 0; index < characters; index += 1)
    codes[index] = 0x4e00 + Math.floor(Math.random() * 20_000);
  return Buffer.from(codes.buffer).toString("utf16le");
}

test("a flood of prompts to be counted delays nobody else's answers, and takes bounded memory", async () => {
  const gateway = await ProcessGateway.start();
  try {
    await gateway.publish(WIDE);
    const [victim, poor, rich] = [
      await gateway.customer(),
      await gateway.customer("0.000001"),
      await gateway.customer(),
    ];
    await fetch(`${gateway.simulator.url}/_sim`, {
      method: "POST",
      body: JSON.stringify({ behaviour: { completion_tokens: 40, no_usage: true } }),
    });
    const call = async (): Promise<number> => {
      const began = performance.now();
      const messages = [{ role: "user", content: "Tell me something" }];
      const { text } = await gateway.chat(victim.secret, {
        model: "plain-1",
        messages,
        max_tokens: 100,
        stream: true,
      });
      expect(readEvents(text).done).toBe(true);
      expect(text).toContain('"evidence":"delivered_tokens"');
      return performance.now() - began;
    };
    for (let warm = 0; warm < 10; warm += 1) await call();
    const alone: number[] = [];
    for (let calls = 0; calls < 40; calls += 1) alone.push(await call());

    const text = ideographs(CHARACTERS);
    // As every SDK does: a client that wants the connection closed and is refused while still sending may see it end
    // before the answer.
    const stays = { connection: "keep-alive" };
    /** Each a little longer at its beginning, so that nothing of one is known from another. */
    const aside = (model: string, secret: string, index: number) =>
      gateway.chat(
        secret,
        { model, messages: [{ role: "user", content: "x".repeat(index) + text }], max_tokens: 100 },
        stays,
      );
    let flooding = true;
    const flood = Promise.all(
      Array.from({ length: FLOOD }, (_, index) =>
        aside(index % 2 === 0 ? "wide-1" : "plain-1", index % 4 < 2 ? poor.secret : rich.secret, index),
      ),
    ).finally(() => {
      flooding = false;
    });
    const flooded: number[] = [];
    let mostBytes = 0;
    while (flooding || flooded.length < 40) {
      flooded.push(await call());
      mostBytes = Math.max(mostBytes, gateway.residentBytes);
    }
    const refused = await flood;
    const [before, during] = [p99(alone), p99(flooded)];
    console.info(
      `alone p50 ${p50(alone)} p99 ${before} ms; flooded p50 ${p50(flooded)} p99 ${during} ms of ${flooded.length}; at most ${Math.round(mostBytes / 2 ** 20)} MB`,
    );
    for (const { status } of refused) expect([400, 402, 429]).toContain(status ?? 0);
    expect(during).toBeLessThan(Math.max(3 * before, 1_000));
    expect(mostBytes).toBeLessThan(1.5 * 2 ** 30);
    expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
  } finally {
    await gateway.stop();
  }
}, 600_000);

const p50 = (values: readonly number[]): number => quantile(values, 0.5);
const p99 = (values: readonly number[]): number => quantile(values, 0.99);

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
}
