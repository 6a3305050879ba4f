// An organization in which everyone who can write a text wrote the payloads: names, reasons, references, prompts,
// models that do not exist, and a provider with hostile answers.
import { Browser, newMember, PASSWORD } from "../support/browser.ts";
import { askForCodes, poll } from "../support/device.ts";
import { PLAIN, RESEARCH, type TestManifest } from "../support/models.ts";
import type { Dashboard } from "./dashboard.ts";
import { all, PAYLOADS, TURNED, written } from "./payloads.ts";

export const HOSTILE = "hostile-1";
const DAY_MS = 86_400_000;
export const routed = (n: number): string => `plain-${n + 2}`;

/**
 * For each payload a model whose route is closed with it as the reason, and the model that the hostile provider
 * answers.
 */
export const HOSTILE_MODELS: readonly TestManifest[] = [
  { ...PLAIN, model: HOSTILE, provider: "hostile" },
  ...PAYLOADS.map((_, n) => ({ ...PLAIN, model: routed(n) })),
];

/** What the provider streams: ids, reasoning, text, and a tool call that nobody asked for. */
export const HOSTILE_TEXTS = {
  reasoning: `thinking ${PAYLOADS.join(" ")}`,
  content: `saying ${TURNED} ${PAYLOADS.join(" ")}`,
  tool: '<img/src=x/onerror="window.__xss=2">',
  /** As JSON prints it, on one line or on several. */
  argument: '"<script>window.__xss=3</script>"',
};

export interface HostileProvider {
  url: string;
  stop(): Promise<void>;
}

export function startHostileProvider(): HostileProvider {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  return { url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) };
}

function answer(): Response {
  const head = { id: PAYLOADS[1], object: "chat.completion.chunk", created: 1, model: PAYLOADS[0] };
  const { reasoning, content, tool, argument } = HOSTILE_TEXTS;
  const named = { name: tool, arguments: `{"text":${argument}}` };
  const call = { index: 0, id: PAYLOADS[2], type: "function", function: named };
  const choice = (delta: object, finish_reason: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const events = [
    choice({ role: "assistant", reasoning_content: reasoning }),
    choice({ content }),
    choice({ tool_calls: [call] }),
    choice({}, "stop"),
    { ...head, choices: [], usage: { prompt_tokens: 10, completion_tokens: 400, total_tokens: 410 } },
  ];
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return new Response(`${lines.join("")}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream", "x-request-id": PAYLOADS[1] },
  });
}

export interface HostileOrganization {
  org: string;
  /** The address of its owner. */
  owner: string;
  /** One of its keys, at its limit. */
  key: { id: string; name: string };
  /** A request whose `Idempotency-Key` is `HEADER`. */
  request: string;
}

/** What a header can carry. */
export const HEADER = "<script>window.__xss=4</script>";

export async function seedHostile(dashboard: Dashboard): Promise<HostileOrganization> {
  const { root, gateway } = dashboard;
  const created = [];
  for (const name of all("organization"))
    created.push(await root.app("POST /operator/organizations", {}, { name }));
  const org = created.find(({ name }) => name.startsWith(PAYLOADS[1]))?.id ?? "";
  const owner = "person-0@example.com";
  const hostile: HostileOrganization = {
    org,
    owner,
    key: { id: "", name: written(PAYLOADS[0], "key") },
    request: "",
  };
  for (const [n, text] of PAYLOADS.entries()) {
    const role = n === 0 ? "owner" : "developer";
    const at = { org, role, email: `person-${n}@example.com`, name: written(text, "person") } as const;
    const person = await newMember(root, gateway, at);
    const { id, request } = await write(dashboard, { org, person, n, text });
    if (n > 0) continue;
    hostile.key.id = id;
    hostile.request = request;
    await alarm(person, org);
  }
  const signIn = { email: owner, password: PASSWORD };
  await new Browser(gateway.url).send("POST", "/auth/sign-in/email", signIn, { "user-agent": HEADER });
  await gateway.alerts.watch((error) => {
    throw error;
  });
  return hostile;
}

interface Writing {
  org: string;
  person: Browser;
  n: number;
  text: string;
}

/** Writes everything that a person, the operator and a program can write. */
async function write(
  { root, gateway }: Dashboard,
  { org, person, n, text }: Writing,
): Promise<{ id: string; request: string }> {
  const [reference, reason] = [written(text, "reference"), written(text, "reason")];
  const paid = { org, amount_usd: "5", kind: "purchase", reference, reason };
  await root.app("POST /operator/credits", {}, paid);
  await root.app("POST /operator/management-keys", {}, { name: written(text, "operator key") });
  await logIn(root, gateway.url, written(text, "host"));
  const { data } = await root.app("GET /operator/routes");
  const route = data.find(({ model }) => model === routed(n))?.route;
  await root.app("POST /operator/routes/disable", {}, { route, reason: written(text, "closed") });
  await askAndDecide(root, person, { org, text, approve: n % 2 === 0 });
  const terms = { name: written(text, "key"), limit_usd: "0.0001" };
  const key = await person.app("POST /orgs/{org}/keys", { org }, terms);
  const customer = { organizationId: org, keyId: key.id, secret: key.secret ?? "" };
  const messages = [{ role: "user", content: text }];
  await gateway.chat(customer, { model: written(text, "model"), messages });
  const answered = await gateway.chat<{ gateway: { request_id: string } }>(
    customer,
    { model: PLAIN.model, messages },
    { "idempotency-key": HEADER },
  );
  return { id: key.id, request: answered.json.gateway.request_id };
}

/** A terminal on a machine of this name logs in. */
async function logIn(root: Browser, url: string, host: string): Promise<void> {
  const { device_code, user_code } = await askForCodes(url, host);
  const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code });
  await root.app("POST /operator/devices/{device}/approve", { device });
  await poll(url, device_code);
}

async function askAndDecide(
  root: Browser,
  person: Browser,
  { org, text, approve }: { org: string; text: string; approve: boolean },
): Promise<void> {
  const wish = {
    model: RESEARCH.model,
    project: written(text, "project"),
    purpose: written(text, "purpose"),
  };
  const { id: entitlement } = await person.app("POST /orgs/{org}/research", { org }, wish);
  const note = written(text, "note");
  const expires = new Date(Date.now() + DAY_MS).toISOString();
  const [route, body] = approve
    ? (["POST /operator/entitlements/{entitlement}/approve", { expires, note }] as const)
    : (["POST /operator/entitlements/{entitlement}/decline", { reason: note }] as const);
  await root.app(route, { entitlement }, body);
}

/** Channels named by the payloads, and a rule whose message names each key. */
async function alarm(owner: Browser, org: string): Promise<void> {
  for (const name of all("channel")) {
    const target = `https://example.com/${encodeURIComponent(name)}`;
    await owner.app("POST /orgs/{org}/alerts/channels", { org }, { kind: "webhook", name, target });
  }
  const rule = { kind: "key_limit", percent: 50, channels: [], on: true };
  await owner.app("POST /orgs/{org}/alerts/rules", { org }, rule);
}
