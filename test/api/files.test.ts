// PDFs from a caller's request to the bill, in each shape that supports them (wire.md §1.2, docs/decisions/0045): the
// strict upstream's count is charged, the hold covers it, and a refused request holds nothing.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { filePart, samplePdf } from "../../src/lib/pdf.fixtures.ts";
import { DIALECTS } from "../../src/providers/openai/dialects.ts";
import { firstOperator } from "../support/browser.ts";
import { type ErrorJson, type GatewayJson, gatewayOf } from "../support/events.ts";
import { addFace, addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN, READER, type TestManifest } from "../support/models.ts";

/** Of `READER`. */
const PAGES_MAX = 10;
const FILE_TOKENS = 3000;
/** As the simulator counts them. */
const PAGE_TOKENS = 258;
/** Nano-USD. */
const TOKEN = 2_000n;

const SHAPES = {
  "file-openai": { provider: "simulator", upstream_model: "sim-file-1" },
  "file-claude": { provider: "claude", upstream_model: "claude-sonnet-4-5" },
  "file-gemini": { provider: "gemini", upstream_model: "gemini-2.5-flash" },
  "file-converse": { provider: "aws", upstream_model: "us.amazon.nova-pro-v1:0" },
} as const;
type ShapeModel = keyof typeof SHAPES;
const NAMES = Object.keys(SHAPES) as ShapeModel[];
const DEAF = { provider: "deaf", upstream_model: "sim-deaf-1" };

const MODELS: TestManifest[] = [
  PLAIN,
  ...NAMES.map((model) => ({ ...READER, model, ...SHAPES[model] })),
  { ...READER, model: "deaf-1", ...DEAF },
  { ...READER, model: "second-1", ...DEAF, priority: 0 },
  { ...READER, model: "second-1", ...SHAPES["file-claude"], priority: 1 },
  { ...READER, model: "through-1", ...SHAPES["file-openai"], priority: 0 },
  { ...READER, model: "through-1", ...SHAPES["file-converse"], priority: 1 },
  onProvider({ ...READER, model: "narrow-1", context_window: 4000, max_output_tokens: 500 }, "simulator", {
    default_output_tokens: 100,
  }),
];

/** Providers of the other shapes, on the simulator; and one of a dialect without files. */
function configure(config: Config): void {
  addFaces(config);
  addFace(config, "deaf", { kind: "openai", path: "/v1", own: { dialect: DIALECTS.deepseek } });
}

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: MODELS, configure });
  customer = await gateway.customer({ usd: "1000" });
});
beforeEach(() => gateway.simulator.behaveWell());
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const ask = (model: string, parts: unknown[], also: object = {}) => ({
  model,
  messages: [{ role: "user", content: parts }],
  max_tokens: 50,
  ...also,
});
const QUESTION = { type: "text", text: "What does it say?" };
const ofPages = (pages: number, packed = false): object => filePart(samplePdf({ pages, packed }));

interface Body {
  usage: { prompt_tokens: number; completion_tokens: number };
  gateway: GatewayJson;
}

/** The answer, its record, and the one call that the upstream would invoice. */
async function served(body: object) {
  const before = gateway.simulator.bill().length;
  const reply = await gateway.chat<Body>(customer, body);
  expect([reply.status, reply.text.slice(0, 300)]).toEqual([200, reply.text.slice(0, 300)]);
  const calls = gateway.simulator.bill().slice(before);
  return { json: reply.json, kept: await gateway.request(reply.json.gateway.request_id), calls };
}

/** The refusal of a body that reached no upstream, held nothing and left no request behind. */
async function refused(body: unknown, by = customer): Promise<ErrorJson["error"]> {
  const [bill, balance, rows] = [
    gateway.simulator.bill().length,
    await gateway.balance(by),
    (await gateway.rowsOf("request")).length,
  ];
  const reply = await gateway.chat<ErrorJson>(by, body);
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(gateway.simulator.bill()).toHaveLength(bill);
  expect(await gateway.balance(by)).toEqual(balance);
  expect(await gateway.rowsOf("request")).toHaveLength(rows);
  return reply.json.error;
}

describe.each(NAMES)("%s", (model) => {
  test("reads a PDF whole; the upstream's count is charged, and the hold covered it", async () => {
    for (const packed of [false, true]) {
      const { json, kept, calls } = await served(ask(model, [QUESTION, ofPages(3, packed)]));
      expect(calls).toHaveLength(1);
      const [call] = calls;
      expect(call).toMatchObject({ outcome: "finished", billed: true });
      expect(json.usage.prompt_tokens).toBe(call?.prompt_tokens ?? 0);
      expect(json.usage.prompt_tokens).toBeGreaterThan(3 * PAGE_TOKENS);
      expect(json.usage.prompt_tokens).toBeLessThan(3 * PAGE_TOKENS + 200);
      const tokens = BigInt(json.usage.prompt_tokens + json.usage.completion_tokens);
      expect(kept).toMatchObject({ charge: tokens * TOKEN, variance: 0n, evidence: "provider_usage" });
      expect(kept.hold).toBeGreaterThanOrEqual(kept.charge ?? 0n);
      expect(kept.promptBound).toBeGreaterThan(FILE_TOKENS);
      expect(kept.promptBound).toBeLessThan(FILE_TOKENS + 2000);
    }
  });

  test("reads it in a stream, with the same bill", async () => {
    const body = ask(model, [ofPages(2), QUESTION], { stream: true });
    const before = gateway.simulator.bill().length;
    const { events, status } = await gateway.stream(customer, body);
    expect(status).toBe(200);
    const record = await gateway.request(gatewayOf(events).request_id);
    const [call] = gateway.simulator.bill().slice(before);
    const billed = BigInt((call?.prompt_tokens ?? 0) + (call?.completion_tokens ?? 0));
    expect(call?.prompt_tokens).toBeGreaterThan(2 * PAGE_TOKENS);
    expect(record).toMatchObject({ charge: billed * TOKEN, variance: 0n });
  });

  test("reads it from the other surfaces, too, at the same count", async () => {
    const data = samplePdf({ pages: 3 }).toString("base64");
    const source = { type: "base64", media_type: "application/pdf", data };
    const file_data = `data:application/pdf;base64,${data}`;
    const asked = {
      messages: {
        model,
        max_tokens: 50,
        messages: [{ role: "user", content: [{ type: "document", source, title: "report.pdf" }] }],
      },
      responses: {
        model,
        max_output_tokens: 50,
        store: false,
        input: [{ role: "user", content: [{ type: "input_file", filename: "report.pdf", file_data }] }],
      },
    };
    for (const [surface, body] of Object.entries(asked)) {
      const before = gateway.simulator.bill().length;
      const reply = await fetch(`${gateway.baseUrl}/${surface}`, {
        method: "POST",
        headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await reply.text();
      expect([surface, reply.status, text.slice(0, 300)]).toEqual([surface, 200, text.slice(0, 300)]);
      const [call] = gateway.simulator.bill().slice(before);
      const billed = (call?.prompt_tokens ?? 0) + (call?.completion_tokens ?? 0);
      expect(call?.prompt_tokens).toBeGreaterThan(3 * PAGE_TOKENS);
      const kept = await gateway.request(reply.headers.get("x-request-id") ?? "");
      expect(kept).toMatchObject({ charge: BigInt(billed) * TOKEN, variance: 0n });
      expect(kept.promptBound).toBeGreaterThan(FILE_TOKENS);
      expect(kept.promptBound).toBeLessThan(FILE_TOKENS + 2000);
    }
  });

  test("takes five files of the same name in several turns, the last of them without text", async () => {
    const { calls } = await served({
      ...ask(model, []),
      messages: [
        { role: "user", content: [ofPages(1), QUESTION, ofPages(2)] },
        { role: "assistant", content: "Nothing much." },
        { role: "user", content: [ofPages(1), ofPages(1), ofPages(PAGES_MAX)] },
      ],
    });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.prompt_tokens).toBeGreaterThan((1 + 2 + 1 + 1 + PAGES_MAX) * PAGE_TOKENS);
  });

  test("charges no more than it held, whatever the upstream reports: the platform pays the rest", async () => {
    gateway.simulator.behave({
      behaviour: { usage: { prompt_tokens: 50_000, completion_tokens: 5 } },
      calls: 1,
    });
    const { json, kept } = await served(ask(model, [QUESTION, ofPages(1)]));
    expect(json.usage.prompt_tokens).toBe(kept.promptBound);
    const charge = BigInt(kept.promptBound + 5) * TOKEN;
    expect(kept).toMatchObject({ charge, variance: BigInt(50_000 + 5) * TOKEN - charge });
    expect(charge).toBeLessThanOrEqual(kept.hold);
  });

  test("refuses a page too many, and uncountable pages, before anything is held", async () => {
    const at = "messages[0].content[1].file.file_data";
    for (const packed of [false, true])
      expect(await refused(ask(model, [QUESTION, ofPages(PAGES_MAX + 1, packed)]))).toMatchObject({
        code: "unsupported_value",
        param: at,
        message: expect.stringContaining(
          `has 11 pages, but model \`${model}\` takes files of at most 10 pages`,
        ),
      });
    const secret = filePart(Buffer.from("%PDF-1.7 << /Encrypt 9 0 R /Type /ObjStm >> stream\n...endstream"));
    expect(await refused(ask(model, [QUESTION, secret]))).toMatchObject({
      code: "invalid_request",
      param: at,
    });
  });
});

test("without reported usage a file costs its release's maximum, and never more than was held", async () => {
  gateway.simulator.behave({ behaviour: { no_usage: true }, calls: 1 });
  const { json, kept } = await served(ask("file-openai", [QUESTION, ofPages(1)]));
  expect(kept).toMatchObject({ evidence: "delivered_tokens" });
  expect(json.usage.prompt_tokens).toBeGreaterThan(FILE_TOKENS);
  expect(json.usage.prompt_tokens).toBeLessThanOrEqual(kept.promptBound);
  expect(kept.charge).toBeLessThanOrEqual(kept.hold);
});

test("the hold for each file is its release's maximum, and its bytes do not count", async () => {
  const quoteOf = async (...parts: object[]): Promise<number> => {
    const reply = await fetch(`${gateway.baseUrl}/chat/completions/quote`, {
      method: "POST",
      headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
      body: JSON.stringify(ask("file-openai", [QUESTION, ...parts])),
    });
    return ((await reply.json()) as { prompt_tokens_max: number }).prompt_tokens_max;
  };
  const none = await quoteOf();
  const one = await quoteOf(ofPages(1));
  expect(one - none).toBeGreaterThanOrEqual(FILE_TOKENS);
  expect(one - none).toBeLessThan(FILE_TOKENS + 100);
  expect(await quoteOf(ofPages(PAGES_MAX))).toBe(one);
  expect((await quoteOf(ofPages(1), ofPages(1))) - one).toBe(one - none);
});

test("a release without files, a provider that does not support them, and a file too many are refused at the part", async () => {
  const part = { code: "unsupported_value", param: "messages[0].content[1]" };
  expect(await refused(ask("plain-1", [QUESTION, ofPages(1)]))).toMatchObject(part);
  expect(await refused(ask("deaf-1", [QUESTION, ofPages(1)]))).toMatchObject(part);
  const some = (count: number): object[] => Array.from({ length: count }, () => ofPages(1));
  expect(await refused(ask("file-openai", [QUESTION, ...some(21)]))).toMatchObject({
    code: "unsupported_value",
    param: "messages[0].content[21]",
  });
  expect(await refused(ask("file-converse", [QUESTION, ...some(6)]))).toMatchObject({
    code: "unsupported_value",
    param: "messages",
  });
  const { calls } = await served(ask("file-claude", [QUESTION, ...some(20)]));
  expect(calls[0]).toMatchObject({ outcome: "finished" });
});

test("a file that Converse would not take is refused there, and read elsewhere", async () => {
  const large = filePart(Buffer.concat([samplePdf(), Buffer.alloc(4_600_000)]));
  const error = await refused(ask("file-converse", [QUESTION, large]));
  expect(error).toMatchObject({ code: "unsupported_value", param: "messages" });
  expect(error.message).toContain("more than 4.5 MB");
  const { calls } = await served(ask("file-claude", [QUESTION, large]));
  expect(calls[0]).toMatchObject({ outcome: "finished" });
});

test("a route that takes files serves if an earlier one takes none", async () => {
  const { json } = await served(ask("second-1", [QUESTION, ofPages(1)]));
  expect(json.gateway).toMatchObject({ provider: "claude", attempts: 1 });
});

test("if the first route fails, a file goes to the next one in that route's format", async () => {
  gateway.simulator.behave({ model: "sim-file-1", behaviour: { status: 503 }, calls: 1 });
  const { json, kept, calls } = await served(ask("through-1", [ofPages(4)]));
  expect(json.gateway).toMatchObject({ provider: "aws", attempts: 2 });
  expect(calls.map(({ outcome }) => outcome)).toEqual(["refused", "finished"]);
  expect(json.usage.prompt_tokens).toBeGreaterThan(4 * PAGE_TOKENS);
  expect(kept.hold).toBeGreaterThanOrEqual(kept.charge ?? 0n);
});

test("a caller who cannot pay for a file's maximum is told so: credits and windows are checked before a provider is called", async () => {
  const poor = await gateway.customer({ usd: "0.005" });
  expect(await refused(ask("file-openai", [QUESTION, ofPages(1)]), poor)).toMatchObject({
    code: "insufficient_credits",
  });
  const two = [QUESTION, ofPages(1), ofPages(1)];
  expect(await refused(ask("narrow-1", two))).toMatchObject({ code: "context_length_exceeded" });
  const { calls } = await served(ask("narrow-1", [QUESTION, ofPages(1)]));
  expect(calls).toHaveLength(1);
});

test("every list of models says which read files, and the difference of a release shows changes to it before it is published", async () => {
  const { json } = await gateway.get<Record<string, unknown>>(customer, "/v1/models/file-openai");
  expect(json).toMatchObject({
    capabilities: { files: true },
    architecture: { input_modalities: ["text", "image", "file"] },
  });
  const operator = await firstOperator(gateway);
  const { data } = await operator.app("GET /orgs/{org}/models", { org: customer.organizationId });
  expect(data.find(({ id }) => id === "file-openai")).toMatchObject({ files: true, images: true });
  expect(data.find(({ id }) => id === "plain-1")).toMatchObject({ files: false, images: false });
  const next = {
    ...READER,
    model: "file-openai",
    ...SHAPES["file-openai"],
    version: 2,
    file_tokens_max: 5000,
  };
  const jws = await gateway.sign({ ...next, file_pages_max: 20 });
  const verified = await operator.app("POST /operator/releases/verify", {}, { jws });
  expect(verified.changes).toContainEqual({ field: "file_tokens_max", before: "3000", after: "5000" });
  expect(verified.changes).toContainEqual({ field: "file_pages_max", before: "10", after: "20" });
});
