// `provider test NAME` tries a configured provider, with three small paid calls if a model is named. It first says
// what they can cost, and says what to do about each failure. No secret is printed.
import type { Command } from "commander";
import type { ProviderConfig } from "../src/config/config.ts";
import type { Failure } from "../src/providers/failure.ts";
import type { OutboundProxy } from "../src/lib/outbound.ts";
import type { Provider } from "../src/providers/provider.ts";
import type { Trial } from "../src/providers/trial.ts";
import { Problem } from "./problem.ts";
import { type Outcome, report, say } from "./report.ts";
import { table } from "./table.ts";

interface TestOptions {
  model?: string;
  config?: string;
  dataDir?: string;
}

export function addProvider(program: Command): void {
  program
    .command("provider")
    .description("the configured providers")
    .command("test")
    .argument("<name>", "its name in the configuration")
    .description("test a provider: reachable, key, answer, stream, tool call, usage")
    .option("--model <model>", "the provider's name for a model; makes three small paid calls")
    .option("--config <file>", "configuration (TOLLGATE_CONFIG; else ./tollgate.yaml if present)")
    .action((name: string, _: object, command: Command) =>
      report(command, () => testProvider(name, command.optsWithGlobals<TestOptions>())),
    );
}

async function testProvider(name: string, options: TestOptions): Promise<Outcome> {
  const { config, proxy } = await configured(name, options);
  const way = await wayTo(config, proxy);
  const running = await opened(config, way);
  const { provider } = running;
  const { tryProvider } = await import("../src/providers/trial.ts");
  try {
    const model = options.model ?? null;
    const expected = model === null ? null : await expectation(provider, { model, kind: config.kind.name });
    say(expected === null ? "No paid call is made: no model was given." : `At most ${expected.text}.`);
    const steps: (Omit<Trial, "failure"> & { next: string | null })[] = [];
    const probed = config.health.probe !== null;
    for await (const { failure, ...step } of tryProvider(provider, { model, probed })) {
      steps.push({ ...step, next: failure === null ? nextOf(step, name) : remedy(failure, config, way) });
      say(`${step.state.padEnd(8)}${step.check}`);
    }
    const ok = steps.every(({ state }) => state !== "failed");
    const { kind, baseUrl } = config;
    const json = JSON.stringify({
      ok,
      provider: name,
      kind: kind.name,
      base_url: baseUrl,
      model,
      expected: expected === null ? null : expected.json,
      checks: steps,
    });
    const text = table(steps, {
      STATE: ({ state }) => state,
      CHECK: ({ check }) => check,
      FOUND: ({ found }) => found,
      NEXT: ({ next }) => next ?? "",
    });
    return { json, text, exitCode: ok ? 0 : 1 };
  } finally {
    await running.stop();
  }
}

interface Configured {
  config: ProviderConfig;
  proxy: OutboundProxy | null;
}

async function configured(name: string, { config, dataDir }: TestOptions): Promise<Configured> {
  const { ConfigError, loadConfig } = await import("../src/config/config.ts");
  const flags = { ...(config !== undefined && { config }), ...(dataDir !== undefined && { dataDir }) };
  try {
    const { providers, outbound } = loadConfig({ env: process.env, cwd: process.cwd(), flags });
    const found = providers.find((one) => one.name === name);
    if (found !== undefined) return { config: found, proxy: outbound.proxy };
    const known = providers.map((one) => one.name).join(", ");
    throw new Problem(`There is no provider ${name} in the configuration.`, `It has: ${known}.`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Problem(error.message, "Correct this setting; ./tollgate doctor lists them all.");
  }
}

/** The proxy that leads to the provider, as from the gateway; null: directly. What else this process asks takes the same way. */
async function wayTo({ baseUrl }: ProviderConfig, proxy: OutboundProxy | null): Promise<string | null> {
  const { proxyTo, takeProxy } = await import("../src/lib/outbound.ts");
  takeProxy(proxy, process.env);
  return baseUrl === null ? null : proxyTo(baseUrl, proxy);
}

async function opened(
  { name, kind, baseUrl, timeouts, health, own }: ProviderConfig,
  proxy: string | null,
): Promise<{
  provider: Provider;
  stop(): Promise<void>;
}> {
  const inside = baseUrl === null ? await kind.startInside?.() : undefined;
  const at = baseUrl ?? inside?.baseUrl;
  if (at === undefined) throw new Problem(`${name} has no address.`, "Set its base_url.");
  return {
    provider: await kind.create({ name, baseUrl: at, timeouts, probePath: health.probe, proxy }, own),
    stop: async () => await inside?.stop(),
  };
}

interface Expectation {
  text: string;
  json: {
    prompt_tokens_max: number;
    output_tokens_max: number;
    usd_max: number | null;
    prices: string | null;
  };
}

/** Uses the price table that ships with the program; does not guess a price that is not in it. */
async function expectation(
  provider: Provider,
  { model, kind }: { model: string; kind: string },
): Promise<Expectation> {
  const { trialTokens } = await import("../src/providers/trial.ts");
  const { openTable } = await import("../src/releases/catalogue/table.ts");
  const { printDecimal } = await import("../src/releases/catalogue/decimal.ts");
  const { prompt, output } = trialTokens(provider, model);
  const { entries, source, date } = await openTable(undefined, Date.now());
  const named = entries.filter((entry) => entry.model === model || entry.listedAs === model);
  const rates = (named.find((entry) => entry.provider === kind) ?? named[0])?.rates;
  const [input, out] = [rates?.input_per_million, rates?.output_per_million];
  const priced = input !== undefined && out !== undefined;
  const usd = priced
    ? (prompt * Number(printDecimal(input)) + output * Number(printDecimal(out))) / 1_000_000
    : null;
  const tokens = `three calls with ${prompt} prompt and ${output} output tokens in all`;
  const prices = priced ? `${source}, ${date}` : null;
  return {
    text:
      usd === null
        ? `${tokens}; its price is not in the table`
        : `${tokens}: $${usd.toFixed(6)} by ${prices}`,
    json: { prompt_tokens_max: prompt, output_tokens_max: output, usd_max: usd, prices },
  };
}

const nextOf = ({ check, state }: Pick<Trial, "check" | "state">, name: string): string | null => {
  if (state === "skipped") return check === "answer" ? `./tollgate provider test ${name} --model …` : null;
  if (state !== "note") return null;
  return check === "usage"
    ? "Check whether the vendor has a setting that reports usage."
    : "Offer tools with another model.";
};

/** What to do about a failure, by its cause. */
function remedy({ reason }: Failure, { kind, name }: ProviderConfig, way: string | null): string {
  switch (reason) {
    case "connect":
    case "connect_timeout":
      return way === null
        ? `Check base_url of ${name}, and that this machine can reach it.`
        : `Check base_url of ${name}, outbound.proxy with its user and password, and what the proxy allows.`;
    case "shortage":
      return "This machine cannot open another connection: check ulimit -n, and what else is running here.";
    case "account":
      return `Check ${kind.credential.setting} of ${name}, and what the account may use.`;
    case "quota":
      return "The account has no credit or quota left: add some at the vendor.";
    case "rate_limited":
      return "The provider is rate limiting us: try again later.";
    case "unavailable":
    case "server":
    case "timeout":
    case "deadline":
      return "The provider is reachable but fails: try again, or check the vendor's status page.";
    case "no_answer":
      return "The model could not give the requested answer: try another one.";
    case "broken":
      return `It answers in a format other than ${kind.name}: check kind and base_url.`;
    case "rejected":
    case "content_filter":
    case "context_length":
    case "aborted":
    case "stopped":
      return "Its message says what it did not accept: the model's name, or a field of its dialect.";
  }
}
