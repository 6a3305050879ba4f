// The record of requests that held nothing: what each asked for and the figures that decided. A flood leaves a
// bounded number of rows, whose counts are in the list, the CSV, the histogram, the live tail, the command line and
// the API.
import { expect, test } from "bun:test";
import { nanoUsd, parseUsd } from "../../src/domain/money.ts";
import type { HeldNothingJson } from "../../src/api/shapes/requests.ts";
import { firstOperator } from "../support/browser.ts";
import { hello, startGateway, STORES } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import { Terminal } from "../support/terminal.ts";

const ENOUGH = 80;

for (const store of STORES)
  test(`the terms of a refusal and the reason are in its record everywhere, on ${store}`, async () => {
    const gateway = await startGateway({ store });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer({ usd: "0.000001" });
      const org = customer.organizationId;
      const body = { ...hello(), max_tokens: 900 };
      const poor = await gateway.chat(customer, body);
      expect(poor.status).toBe(402);
      const id = poor.headers.get("x-request-id") ?? "";

      const shown = (await gateway.admin<HeldNothingJson>("GET", `/requests/${id}`)).json;
      expect(shown).toMatchObject({
        id,
        org,
        key: customer.keyId,
        state: "refused",
        status: 402,
        error_code: "insufficient_credits",
        model: body.model,
        asked: { prompt_counted: true, output_tokens: 900 },
        details: { available_usd: "0.000001000", required_usd: shown.asked?.hold_usd },
        requests: 1,
      });
      expect(shown.asked?.prompt_tokens).toBeGreaterThan(0);

      const { row } = await root.app("GET /orgs/{org}/activity/{request}", { org, request: id });
      expect(row).toMatchObject({ model: body.model, asked: shown.asked, details: shown.details });

      const { refusal } = await root.app("GET /orgs/{org}/activity/{request}", { org, request: id });
      expect(refusal).toEqual({
        again_at: null,
        running: [],
        running_requests: 0,
        running_usd: "0.000000000",
      });
      const found = await root.app("GET /operator/requests", {}, undefined, `?find=${id}`);
      expect(found.data).toMatchObject([{ id, org: { id: org }, code: "insufficient_credits" }]);

      const csv = await root.send("GET", `/app/v1/orgs/${org}/activity.csv`);
      const [head = "", line = ""] = csv.text.split("\r\n");
      expect(head).toContain(
        "asked_prompt_tokens,asked_prompt_counted,asked_output_tokens,asked_hold_usd,details",
      );
      expect(line).toContain(`,true,900,${shown.asked?.hold_usd},`);

      const told = await gateway.get(customer, `/v1/generation?id=${id}`);
      expect(told).toMatchObject({
        status: 200,
        json: {
          object: "generation",
          id,
          state: "refused",
          error_code: "insufficient_credits",
          asked: shown.asked,
        },
      });
      expect(told.text).not.toContain(org);
      const stranger = await gateway.customer();
      expect((await gateway.get(stranger, `/v1/generation?id=${id}`)).status).toBe(404);
    } finally {
      await gateway.stop();
    }
  });

test("the model is recorded whenever it could be read, and its absence is stated", async () => {
  const gateway = await startGateway();
  try {
    const customer = await gateway.customer({ limitUsd: "0" });
    const show = async (reply: { headers: Headers }): Promise<HeldNothingJson> => {
      const id = reply.headers.get("x-request-id") ?? "";
      return (await gateway.admin<HeldNothingJson>("GET", `/requests/${id}`)).json;
    };
    const unknown = await show(await gateway.chat(customer, { ...hello(), model: "no-such-model" }));
    expect(unknown).toMatchObject({ model: "no-such-model", asked: null, error_code: "model_not_found" });
    const odd = await show(await gateway.chat(customer, { ...hello(), colour: "blue" }));
    expect(odd).toMatchObject({ model: hello().model, asked: null, error_code: "unknown_parameter" });
    const mute = await show(await gateway.chat(customer, { messages: [] }));
    expect(mute).toMatchObject({ model: null, asked: null });
    const limited = await show(await gateway.chat(customer, hello()));
    expect(limited).toMatchObject({
      model: hello().model,
      error_code: "key_spend_limit_reached",
      details: { limit_usd: "0.000000000", spent_usd: "0.000000000", held_usd: "0.000000000" },
    });
    expect(limited.asked?.prompt_tokens).toBeGreaterThan(0);
    const wide = await show(
      await gateway.chat(customer, {
        ...hello(),
        max_tokens: 1,
        messages: [{ role: "user", content: "a ".repeat(200_000) }],
      }),
    );
    expect(wide).toMatchObject({ error_code: "context_length_exceeded", model: hello().model });
    expect(wide.details?.["context_window"]).toBeNumber();
  } finally {
    await gateway.stop();
  }
});

for (const store of STORES)
  test(`a refusal tells what ran when it was met, where it was wrong, and when it works again, on ${store}`, async () => {
    const gateway = await startGateway({ store });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer({ limitUsd: "0.00001" });
      const org = customer.organizationId;
      const detail = async (headers: Headers) => {
        const request = headers.get("x-request-id") ?? "";
        return await root.app("GET /orgs/{org}/activity/{request}", { org, request });
      };
      gateway.simulator.behave({ behaviour: { hang: true }, calls: 1 });
      const leaving = new AbortController();
      const running = fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${customer.secret}`,
          "content-type": "application/json",
          "idempotency-key": "running-while-refused",
        },
        body: JSON.stringify({ ...hello(), max_tokens: 900 }),
        signal: leaving.signal,
      }).catch(() => null);
      const listed = async () =>
        (await root.app("GET /orgs/{org}/activity", { org }, undefined, "?state=running")).data;
      await waitFor(async () => (await listed()).length === 1, "a running request");
      const [runs] = await listed();
      const limited = await detail((await gateway.chat(customer, hello())).headers);
      expect(limited.row.code).toBe("key_spend_limit_reached");
      expect(limited.refusal).toMatchObject({
        again_at: limited.row.details?.["resets_at"],
        running: [{ id: runs?.id, model: hello().model, ended_at: null, hold_usd: runs?.hold_usd }],
        running_requests: 1,
        running_usd: runs?.hold_usd,
      });
      const held = { spent_usd: "0.000000000", held_usd: runs?.hold_usd, limit_usd: "0.000010000" };
      const { blocked } = await root.app("GET /orgs/{org}/usage/holds", { org });
      expect(blocked).toMatchObject([{ key: { id: customer.keyId }, period: "month", ...held }]);
      const { attention, refusals } = await root.app("GET /orgs/{org}/overview", { org });
      expect(attention).toContainEqual(
        expect.objectContaining({ kind: "key_blocked_by_holds", target: customer.keyId }),
      );
      expect(refusals).toMatchObject([{ code: "key_spend_limit_reached", key: { id: customer.keyId } }]);
      expect(`${limited.advice?.next}; ${refusals[0]?.next}`).not.toContain("details");
      await gateway.admin("POST", `/keys/${customer.keyId}/update`, { allowed_models: ["base-preview-v1"] });
      expect((await gateway.chat(customer, hello())).status).toBe(403);
      const causes = (await root.app("GET /orgs/{org}/overview", { org })).refusals;
      const closed = causes.find(({ code }) => code === "model_not_allowed");
      expect(closed).toMatchObject({ model: hello().model, key: { id: customer.keyId } });
      const odd = await detail((await gateway.chat(customer, { ...hello(), colour: "blue" })).headers);
      expect(odd.row.details).toEqual({ param: "colour" });
      expect(odd.refusal).toMatchObject({ again_at: null, running: [] });
      const named = await root.app("GET /operator/requests", {}, undefined, "?find=running-while-refused");
      expect(named.data.map(({ id, org: of }) => [id, of.id])).toEqual([[runs?.id ?? "", org]]);
      const csv = async (query: string) => {
        const { text } = await root.send("GET", `/app/v1/operator/requests.csv${query}`);
        const [head = "", ...lines] = text.trimEnd().split("\r\n");
        expect(head).toStartWith("org,org_name,id,at,state,status,code,model,");
        return lines.map((line) => line.split(",").filter((_, at) => at === 0 || at === 2));
      };
      expect(await csv("?find=running-while-refused")).toEqual([[org, runs?.id ?? ""]]);
      const all = await root.app("GET /operator/requests", {}, undefined, "?state=refused");
      expect(await csv("?state=refused")).toEqual(all.data.map(({ id, org: of }) => [of.id, id]));
      expect(all.data.length).toBeGreaterThan(1);
      leaving.abort();
      await running;
    } finally {
      await gateway.stop();
    }
  });

test("a replay has the model, the bounds and the hold of the request it repeats", async () => {
  const gateway = await startGateway();
  try {
    const root = await firstOperator(gateway);
    const customer = await gateway.customer();
    const org = customer.organizationId;
    const key = { "idempotency-key": "asked-twice-1" };
    const paid = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello(), key);
    await gateway.chat(customer, hello(), key);
    const { data } = await root.app("GET /orgs/{org}/activity", { org });
    const [replay, original] = data;
    expect(original?.id).toBe(paid.json.gateway.request_id);
    expect(replay).toMatchObject({ state: "replay", model: hello().model, replay_of: original?.id });
    expect(replay?.asked).toMatchObject({
      prompt_tokens: original?.asked?.prompt_tokens ?? -1,
      output_tokens: original?.asked?.output_tokens ?? -1,
      hold_usd: original?.asked?.hold_usd ?? "",
    });
    const shown = await gateway.admin<HeldNothingJson>("GET", `/requests/${replay?.id}`);
    expect(shown.json).toMatchObject({
      state: "replay",
      replay_of: original?.id,
      idempotency_key: "asked-twice-1",
    });
  } finally {
    await gateway.stop();
  }
});

for (const store of STORES)
  test(`a flood of refusals and replays is a bounded number of rows that say how many, on ${store}`, async () => {
    const gateway = await startGateway({ store });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer();
      const org = customer.organizationId;
      const key = { "idempotency-key": "asked-often-1" };
      await gateway.chat(customer, hello(), key);
      for (let i = 0; i < ENOUGH; i++) await gateway.chat(customer, { ...hello(), model: "no-such-model" });
      for (let i = 0; i < ENOUGH; i++) await gateway.chat(customer, hello(), key);

      const { data } = await root.app("GET /orgs/{org}/activity", { org }, undefined, "?limit=200");
      const turnedAway = data.filter(({ state }) => state === "refused");
      const replayed = data.filter(({ state }) => state === "replay");
      const times = (rows: typeof data): number => rows.reduce((sum, { requests }) => sum + requests, 0);
      expect([times(turnedAway), times(replayed)]).toEqual([ENOUGH, ENOUGH]);
      // A new minute may begin while this runs.
      expect(turnedAway.length + replayed.length).toBeLessThanOrEqual(3 * 22);
      const counted = turnedAway.find(({ requests }) => requests > 1);
      expect(counted).toMatchObject({
        code: "model_not_found",
        model: "no-such-model",
        key: { id: customer.keyId },
      });
      expect(Date.parse(counted?.last_at ?? "")).toBeGreaterThanOrEqual(Date.parse(counted?.at ?? ""));

      const histogram = await root.app("GET /orgs/{org}/activity/histogram", { org });
      const sums = Object.fromEntries(
        histogram.states.map(({ state, counts }) => [state, counts.reduce((sum, count) => sum + count, 0)]),
      );
      expect(sums).toMatchObject({ refused: ENOUGH, replay: ENOUGH, settled: 1 });
      const overview = await root.app("GET /orgs/{org}/overview", { org });
      expect(overview).toMatchObject({
        refused: ENOUGH,
        refusals: [{ code: "model_not_found", model: "no-such-model", key: null, requests: ENOUGH }],
      });
      const paid = overview.spend.charge_usd;
      const savings = await root.app("GET /orgs/{org}/usage/savings", { org });
      expect(savings).toMatchObject({ replays: ENOUGH, used: { requests: 1, charge_usd: paid } });
      expect(parseUsd(savings.replayed_usd)).toBe(nanoUsd((parseUsd(paid) ?? 0n) * BigInt(ENOUGH)));
      expect(savings.elsewhere.map(({ model }) => model)).toContain("plain-1");
      const holds = await root.app("GET /orgs/{org}/usage/holds", { org });
      const settled = data.find(({ state }) => state === "settled");
      expect(holds).toMatchObject({
        cut: false,
        rows: [
          {
            key: { id: customer.keyId },
            model: hello().model,
            requests: 1,
            charge_usd: paid,
            held_usd: settled?.hold_usd ?? "",
            answers: 1,
            output_p99: settled?.output_tokens ?? -1,
            suggested_max_tokens: null,
          },
        ],
        blocked: [],
      });
      const shown = await gateway.admin<HeldNothingJson>("GET", `/requests/${counted?.id}`);
      expect(shown.json).toMatchObject({ requests: counted?.requests, last_at: counted?.last_at });
      expect((await gateway.rowsOf("journal")).length).toBe(turnedAway.length + replayed.length);
    } finally {
      await gateway.stop();
    }
  });

test("the live tail sends a counting row again as it counts", async () => {
  const gateway = await startGateway();
  try {
    const root = await firstOperator(gateway);
    const customer = await gateway.customer();
    const ask = () => gateway.chat(customer, { ...hello(), model: "no-such-model" });
    const stop = new AbortController();
    const response = await fetch(`${gateway.url}/app/v1/orgs/${customer.organizationId}/activity/tail`, {
      headers: { cookie: root.cookie },
      signal: stop.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const counts = (): number[] =>
      [...text.matchAll(/"requests":(\d+)/g)].map(([, n]) => Number(n)).filter((n) => n > 1);
    const most = (): number => Math.max(0, ...counts());
    /** Each new minute begins a new row: sends requests until one row has counted further. */
    const askUntil = async (done: () => boolean, atOnce: number): Promise<void> => {
      while (!done()) {
        for (let i = 0; i < atOnce; i++) await ask();
        text += (await reader?.read())?.value ?? "";
      }
    };
    await askUntil(() => most() > 0, ENOUGH);
    const before = most();
    await askUntil(() => most() > before, 30);
    expect(most()).toBeGreaterThan(before);
    stop.abort();
  } finally {
    await gateway.stop();
  }
});

test("the command line shows a refusal, and how many a row counts", async () => {
  const gateway = await startGateway();
  const terminal = new Terminal();
  try {
    const customer = await gateway.customer({ usd: "0.000001" });
    const refused = await gateway.chat(customer, hello());
    const mute = await gateway.chat(customer, { messages: [] });
    for (let i = 0; i < ENOUGH; i++) await gateway.chat(customer, { ...hello(), model: "no-such-model" });
    const run = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await terminal.run(args, {
        TOLLGATE_URL: gateway.url,
        TOLLGATE_DATA_DIR: gateway.dataDir,
      });
      expect([code, err]).toEqual([0, ""]);
      return out;
    };
    const shown = await run("request", "show", refused.headers.get("x-request-id") ?? "");
    expect(shown).toContain("insufficient_credits");
    expect(shown).toContain(hello().model);
    expect(shown).toMatch(/would have held\s+\$0\.\d+/);
    expect(shown).toMatch(/available_usd\s+0\.000001000/);
    expect(await run("request", "show", mute.headers.get("x-request-id") ?? "")).toContain(
      "not read before it was refused",
    );
    const id = refused.headers.get("x-request-id") ?? "";
    const evidence = await gateway.admin<{ error: object }>("GET", `/requests/${id}/evidence`);
    expect(evidence.json.error).toMatchObject({ message: `No request with the id "${id}" held credits.` });
    const list = await run("request", "list", "--org", customer.organizationId, "--limit", "200");
    const times = list
      .split("\n")
      .slice(1)
      .map((line) => Number(/model_not_found\s+(\d+)/.exec(line)?.[1] ?? 0));
    expect(times.reduce((sum, count) => sum + count, 0)).toBe(ENOUGH);
    const other = await gateway.customer();
    gateway.simulator.behave({ behaviour: { until_well: true } });
    const running = gateway.chat(other, hello());
    await waitFor(async () => (await gateway.balance(other)).held > 0n, "its hold");
    // As the first stored part of a stream leaves it.
    await gateway.tamper("UPDATE request SET prompt_tokens = 26 WHERE org_id = ?1", other.organizationId);
    const listed = await run("request", "list", "--org", other.organizationId);
    gateway.simulator.behaveWell();
    await running;
    expect(listed).toMatch(/ running .* 26 \+ – /);
  } finally {
    terminal.close();
    await gateway.stop();
  }
});
