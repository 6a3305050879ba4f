// The playground in use: the bound before, the stream with its reasoning shown separately, tools, two models, stop,
// and a charge that equals the ledger's to the last digit.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { APIResponse, Locator, Route } from "playwright-core";
import { exactMoney } from "../../dashboard/format/money.ts";
import { path } from "../../dashboard/path-builder.ts";
import { answerTexts } from "../../dashboard/components/texts.ts";
import { playgroundTexts as words } from "../../dashboard/pages/playground/texts.ts";
import { formatUsd, type NanoUsd, parseUsd } from "../../src/domain/money.ts";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { type Browser, newMember } from "../support/browser.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";

const { phases } = answerTexts;
const REASONING = "base-preview-v1";
const SECOND = "base-preview-v2";
/** At twenty a second no test waits for their end. */
const LONG_TOKENS = 800;

let dashboard: Dashboard;
let owner: Browser;
let visitor: Visitor;
let org: string;
let key: { id: string; secret: string };

beforeAll(async () => {
  dashboard = await startDashboard();
  const { root, gateway } = dashboard;
  ({ id: org } = await root.app("POST /operator/organizations", {}, { name: "Acme" }));
  owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  const credits = { org, kind: "purchase", amount_usd: "5", reference: "one", reason: "test" };
  await root.app("POST /operator/credits", {}, credits);
  const made = await owner.app("POST /orgs/{org}/keys", { org }, { name: "Playing" });
  key = { id: made.id, secret: made.secret ?? "" };
  visitor = await dashboard.visitor("olga@example.com");
});
afterAll(() => dashboard.stop());

beforeEach(async () => {
  await fetch(`${dashboard.gateway.simulator.url}/_sim`, { method: "DELETE" });
  await visitor.open(`${path.organization(org, "playground")}?model=${REASONING}`);
});

const button = (name: string): Locator => visitor.page.getByRole("button", { name, exact: true });
const side = (model: string): Locator => visitor.page.getByRole("region", { name: model, exact: true });
const type = (message: string): Promise<void> =>
  visitor.page.getByLabel(words.message, { exact: true }).fill(message);
const ended = (model = REASONING, turn = 0): Promise<void> =>
  side(model).getByText(phases.settled, { exact: true }).nth(turn).waitFor();
const simulate = (behaviour: object): Promise<Response> =>
  fetch(`${dashboard.gateway.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });

async function choose(label: string, option: string): Promise<void> {
  await visitor.page.getByRole("combobox", { name: label, exact: true }).first().click();
  await visitor.page.getByRole("option", { name: option, exact: true }).click();
}

async function requests(): Promise<RequestRecord[]> {
  const { data } = await owner.app("GET /orgs/{org}/activity", { org });
  return await Promise.all(
    data.filter(({ state }) => state !== "refused").map(({ id }) => dashboard.gateway.request(id)),
  );
}

/** The newest request, once the ledger has settled it. */
async function newest(): Promise<RequestRecord> {
  for (;;) {
    const [record] = await requests();
    if (record !== undefined && record.state !== "running") return record;
    await Bun.sleep(20);
  }
}

const boundOnScreen = async (): Promise<NanoUsd> => {
  const bound = visitor.page.getByText(words.isHeld);
  const shown = await bound.locator("[title]").first().getAttribute("title");
  return parseUsd((shown ?? "").replace("$", "")) ?? (-1n as NanoUsd);
};

test("a streamed answer: its bound before, reasoning shown separately, and exactly the ledger's charge", async () => {
  await choose(words.effort, "high");
  await type("What is a toll gate?");
  await visitor.page.getByText(words.isHeld).waitFor();
  const bound = await boundOnScreen();
  await button(words.send).click();
  await ended();
  const { charge, hold } = await newest();
  expect(bound).toBe(hold);
  expect(charge).toBeLessThanOrEqual(bound);
  const money = [hold, charge].map((amount) => exactMoney(formatUsd(amount)));
  const receipt = side(REASONING).getByRole("button", { name: answerTexts.gateway });
  expect(await receipt.innerText()).toBe(
    `${answerTexts.gateway}: ${answerTexts.heldThen} ${money[0]}, ${answerTexts.chargedThen} ${money[1]}`,
  );
  const reasoning = side(REASONING).getByRole("button", { name: answerTexts.reasoning });
  expect(await reasoning.getAttribute("aria-expanded")).toBe("true");
  const thought = await side(REASONING).getByRole("region", { name: answerTexts.reasoning }).innerText();
  expect(thought.trim().split(" ").length).toBeGreaterThan(20);
  expect(await side(REASONING).locator("[aria-live]").innerText()).not.toContain(thought.trim().slice(0, 40));
  expect(await visitor.axe()).toEqual([]);
  expect(visitor.complained()).toEqual([]);
});

test("an answer in one piece costs and says the same", async () => {
  await visitor.page.getByRole("switch", { name: words.stream }).click();
  await type("In one piece");
  await button(words.send).click();
  await ended();
  expect((await newest()).stream).toBe(false);
  expect(await side(REASONING).locator("[aria-live]").innerText()).not.toBe("");
});

test("a tool call shows its arguments, and the conversation continues with its result", async () => {
  await button(`${words.tools} ${words.toolsCount(0)}`).click();
  const editor = visitor.page.getByRole("textbox", { name: words.tools });
  await editor.fill('[{"type":"function","function":{"name":"bad name"}}]');
  await visitor.page.getByText("must consist of letters").first().waitFor();
  await type("Please get_weather for me");
  expect(await button(words.send).isDisabled()).toBe(true);
  await editor.fill("");
  await button(words.toolsExample).click();
  await button(words.send).click();
  await ended();
  const called = side(REASONING).getByRole("region", { name: answerTexts.arguments("get_weather") });
  expect(JSON.parse(await called.innerText())).toEqual({ city: "text" });
  expect(await button(words.send).isDisabled()).toBe(true);
  expect(await visitor.axe()).toEqual([]);
  await visitor.page.getByLabel(words.result("get_weather")).fill("sunny, 21 °C");
  await button(words.sendResults).click();
  await ended(REASONING, 1);
  const [second, first] = await requests();
  expect(second?.finishReason).toBe("stop");
  expect(first?.finishReason).toBe("tool_calls");
  expect(await visitor.overflow()).toBe(0);
  expect(visitor.complained()).toEqual([]);
});

test("a second message repeats the first and its answer", async () => {
  await type("One");
  await button(words.send).click();
  await ended();
  await type("Two");
  await button(words.send).click();
  await ended(REASONING, 1);
  const [second, first] = await requests();
  const tokens = [first, second].map((record) => record?.usage?.promptTokens ?? 0);
  expect(tokens[1]).toBeGreaterThan((tokens[0] ?? 0) + 8);
  await button(words.clear).click();
  expect(await side(REASONING).count()).toBe(0);
});

test("a stopped answer is charged for what came, and says so", async () => {
  await simulate({ completion_tokens: LONG_TOKENS, tokens_per_second: 20 });
  await type("A long one");
  await button(words.send).click();
  await side(REASONING).getByText(phases.streaming, { exact: true }).waitFor();
  // Priced by the gateway while it runs.
  await side(REASONING)
    .getByText(new RegExp(`^${answerTexts.about} .*${answerTexts.soFar}$`))
    .waitFor();
  await button(words.stop).click();
  await side(REASONING).getByText(answerTexts.stoppedHelp).waitFor();
  const { state, charge, hold, usage } = await newest();
  expect(state).toBe("settled");
  expect(usage?.completionTokens).toBeLessThan(LONG_TOKENS);
  expect(charge).toBeGreaterThan(0n);
  expect(charge).toBeLessThan(hold);
});

/** Lets `change` alter the first answer of the playground; the gateway sends it whole, and charges for it. */
async function spoil(change: (route: Route, whole: APIResponse) => Promise<void>): Promise<void> {
  await visitor.page.route(/\/playground$/, async (route) => {
    if (route.request().method() !== "POST") return await route.continue();
    await change(route, await route.fetch());
  });
}
const unknown = (): Promise<void> => side(REASONING).getByText(phases.unknown, { exact: true }).waitFor();

test.each([
  ["breaks off in its middle", (text: string) => text.length * 0.6],
  ["has all its words, and no end", (text: string) => text.indexOf('"cost"')],
] as const)("an answer that %s has not succeeded, whatever became of it", async (_, endOf) => {
  await spoil(async (route, whole) => {
    const text = await whole.text();
    await route.fulfill({ response: whole, body: text.slice(0, endOf(text)) });
  });
  await type("Cut me off");
  await button(words.send).click();
  await unknown();
  const row = side(REASONING).getByRole("link", { name: answerTexts.unknownWay });
  expect(await row.getAttribute("href")).toContain(`req=${(await newest()).requestId}`);
  expect(await visitor.axe()).toEqual([]);
  await visitor.page.unrouteAll();
  visitor.complained();
});

test("an answer that the provider cut short says what it cost, and is not called rejected", async () => {
  await simulate({ completion_tokens: LONG_TOKENS, tokens_per_second: 500, reset_after_events: 60 });
  await type("Cut short");
  await button(words.send).click();
  await side(REASONING).getByText(phases.cut, { exact: true }).waitFor();
  const { charge } = await newest();
  expect(charge).toBeGreaterThan(0n);
  expect(await side(REASONING).getByRole("button", { name: answerTexts.gateway }).innerText()).toContain(
    `${answerTexts.chargedThen} ${exactMoney(formatUsd(charge))}`,
  );
  visitor.complained();
});

test("an answer that was lost in transit was not rejected: it may have been charged", async () => {
  await spoil((route) => route.abort("connectionreset"));
  await type("Charged, but lost");
  await button(words.send).click();
  await unknown();
  expect((await newest()).charge).toBeGreaterThan(0n);
  expect(await side(REASONING).getByText(phases.refused, { exact: true }).count()).toBe(0);
  expect(await visitor.page.getByLabel(words.message, { exact: true }).inputValue()).toBe(
    "Charged, but lost",
  );
  await visitor.page.unrouteAll();
  visitor.complained();
});

test("a person who sends right after typing sees the running price as soon as the quote has arrived", async () => {
  await simulate({ completion_tokens: LONG_TOKENS, tokens_per_second: 20 });
  await type("A");
  await visitor.page.getByText(words.isHeld).waitFor();
  let answer: () => void = () => undefined;
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  await visitor.page.route("**/playground/quote", async (route) => {
    await mayAnswer;
    await route.continue();
  });
  const field = visitor.page.getByLabel(words.message, { exact: true });
  await field.pressSequentially(" long one");
  const quoted = visitor.page.waitForRequest((request) => request.url().endsWith("/playground/quote"));
  await field.press("Control+Enter");
  await side(REASONING).getByText(phases.streaming, { exact: true }).waitFor();
  const price = side(REASONING).getByText(new RegExp(`^${answerTexts.about} .*${answerTexts.soFar}$`));
  expect(await price.count()).toBe(0);
  // The quote is for what was sent, not for what was typed before it.
  expect((await quoted).postData()).toContain("A long one");
  answer();
  await price.waitFor();
  expect(await side(REASONING).getByText(phases.streaming, { exact: true }).count()).toBe(1);
  await button(words.stop).click();
  await side(REASONING).getByText(answerTexts.stoppedHelp).waitFor();
  await visitor.page.unroute("**/playground/quote");
  expect(visitor.complained()).toEqual([]);
});

test("two models answer side by side, each with its own bound and charge", async () => {
  const before = (await requests()).length;
  await button(words.compare).click();
  await choose(words.second, SECOND);
  await type("Compare yourselves");
  for (const model of [REASONING, SECOND])
    await visitor.page
      .getByRole("status")
      .filter({ hasText: `${words.isHeld} · ${model}` })
      .waitFor();
  expect(await visitor.axe()).toEqual([]);
  await button(words.send).click();
  await Promise.all([ended(REASONING), ended(SECOND)]);
  const made = await requests();
  expect(made.length - before).toBe(2);
  expect(new Set(made.slice(0, 2).map(({ model }) => model))).toEqual(new Set([REASONING, SECOND]));
  await visitor.resize({ width: 320, height: 740 });
  expect(await visitor.overflow()).toBe(0);
  await visitor.resize({ width: 1280, height: 860 });
});

test("a request that would be refused says so before it is sent, with the next step", async () => {
  await visitor.open(`${path.organization(org, "playground")}?model=base-research-1`);
  await type("May I?");
  await visitor.page.getByText("scope_not_permitted").waitFor();
  const next = visitor.page.getByRole("link", { name: answerTexts.next.key });
  expect(await next.getAttribute("href")).toStartWith(path.key(org, "key_"));
  await button(words.send).click();
  await side("base-research-1").getByText(phases.refused, { exact: true }).waitFor();
  // Nothing was said, so nothing is lost.
  expect(await visitor.page.getByLabel(words.message, { exact: true }).inputValue()).toBe("May I?");
  visitor.complained({ about: /403/ });
});

test("if the credits are short, the output that they cover is one click away", async () => {
  const { id: poor } = await dashboard.root.app("POST /operator/organizations", {}, { name: "Poor" });
  const member = { org: poor, role: "owner", email: "paul@example.com" } as const;
  const paul = await newMember(dashboard.root, dashboard.gateway, member);
  await dashboard.root.app(
    "POST /operator/credits",
    {},
    { org: poor, kind: "purchase", amount_usd: "0.005", reference: "two", reason: "test" },
  );
  await paul.app("POST /orgs/{org}/keys", { org: poor }, { name: "Short" });
  const mine = visitor;
  visitor = await dashboard.visitor("paul@example.com");
  try {
    await visitor.open(path.organization(poor, "playground"));
    await visitor.page.getByLabel(words.maxTokens, { exact: true }).fill("8000");
    await type("Too long");
    await visitor.page.getByText("insufficient_credits").waitFor();
    await button(words.useAffordable).click();
    await visitor.page.getByText(words.isHeld).waitFor();
    await button(words.send).click();
    await visitor.page.getByText(phases.settled, { exact: true }).waitFor();
  } finally {
    await visitor.leave();
    visitor = mine;
  }
});

test("the shown code runs unchanged, in each language installed here", async () => {
  await type('A "quoted" word, it\'s 100 % ☂');
  await button(words.code).click();
  const code = async (way: string): Promise<string> => {
    await visitor.page.getByRole("tab", { name: way, exact: true }).click();
    return await visitor.page.getByRole("tabpanel", { name: way }).locator("pre").innerText();
  };
  const before = (await requests()).length;
  const env = { ...process.env, TOLLGATE_KEY: key.secret };
  const run = async (command: string[]): Promise<string> => {
    const child = Bun.spawn(command, {
      env,
      stdout: "pipe",
      stderr: "pipe",
      cwd: `${import.meta.dir}/../..`,
    });
    const said = await new Response(child.stdout).text();
    expect({ exit: await child.exited, said: said !== "" }).toEqual({ exit: 0, said: true });
    return said;
  };
  if (Bun.which("curl") !== null)
    expect(await run(["sh", "-c", `${await code("curl")} -sS`])).toContain("[DONE]");
  await run([process.execPath, "-e", await code("TypeScript")]);
  const python = Bun.which("python3");
  if (python !== null)
    await run([
      python,
      "-c",
      `import ast, sys; print(ast.dump(ast.parse(sys.argv[1])))`,
      await code("Python"),
    ]);
  expect((await requests()).length).toBeGreaterThan(before);
});

test("a person who may not spend is told who may", async () => {
  await newMember(dashboard.root, dashboard.gateway, { org, role: "viewer", email: "vera@example.com" });
  const vera = await dashboard.visitor("vera@example.com");
  await vera.open(path.organization(org, "playground"));
  await vera.page.getByText(words.mayNot).waitFor();
  await vera.leave();
});

test("each surface is one choice away: the same conversation, its own row, its own code", async () => {
  const shown = async (way: string): Promise<string> => {
    await visitor.page.getByRole("tab", { name: way, exact: true }).click();
    return await visitor.page.getByRole("tabpanel", { name: way }).locator("pre").innerText();
  };
  for (const [surface, path] of [
    ["responses", "/v1/responses"],
    ["messages", "/v1/messages"],
  ] as const) {
    await choose(words.surface, words.surfaces[surface]);
    await type(`Speak ${surface}`);
    await visitor.page.getByText(words.isHeld).waitFor();
    const bound = await boundOnScreen();
    await button(words.send).click();
    await ended();
    const { charge, hold, surface: booked } = await newest();
    expect([booked, bound]).toEqual([surface, hold]);
    expect(await side(REASONING).getByRole("button", { name: answerTexts.gateway }).innerText()).toContain(
      `${answerTexts.chargedThen} ${exactMoney(formatUsd(charge))}`,
    );
    expect(await side(REASONING).locator("[aria-live]").innerText()).not.toBe("");
    await button(words.code).click();
    expect(await shown("curl")).toContain(`${path} `);
    expect(await visitor.axe()).toEqual([]);
    await button(words.code).click();
    await button(words.clear).click();
  }
  expect(visitor.complained()).toEqual([]);
});

test("if fifty newer keys are at their limit, an older one that can pay is chosen", async () => {
  const blocked = { name: "At its limit", limit_usd: "0" };
  await Promise.all(Array.from({ length: 50 }, () => owner.app("POST /orgs/{org}/keys", { org }, blocked)));
  await visitor.open(`${path.organization(org, "playground")}?model=${REASONING}`);
  const chooser = visitor.page.getByRole("combobox", { name: words.key, exact: true });
  await waitFor(async () => (await chooser.inputValue()) === "Playing", "the key that can pay");
});
