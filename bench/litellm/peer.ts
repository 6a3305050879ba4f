// LiteLLM's proxy as a peer: from pip, pinned with all its dependencies (`requirements.txt`), in an environment of
// its own. Its keys and their spend need a database whose engine pip does not install; without one it keeps a budget
// per provider, in the memory of its process.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, launch, type Process, readyMs } from "../processes.ts";
import { accountOf, type Peer, type Upstream } from "../peer.ts";
import type { Target } from "../request.ts";
import { RATES, SCRIPT_NAMES } from "../scripts.ts";

export const LITELLM = "litellm";
const requirements = join(import.meta.dir, "requirements.txt");
const environment = join(import.meta.dir, "../../node_modules/.cache/litellm");
const program = join(environment, "bin/litellm");
/** Python takes that long to load it. */
const READY_WITHIN_MS = 180_000;

export const litellm: Peer = {
  name: LITELLM,
  control: false,
  apart: true,
  version: () => /^litellm==(\S+)$/m.exec(readFileSync(requirements, "utf8"))?.[1] ?? "",
  missing: () => (Bun.which("python3") === null ? "it needs python3 on the path" : null),
  start: async (upstream, scratchDir) => {
    await install();
    const { process, target } = await serve(upstream, scratchDir, null);
    return {
      name: LITELLM,
      process,
      target,
      withBudget: async (usd) => {
        let own = await serve(upstream, scratchDir, usd);
        return {
          target: () => own.target,
          killed: async () => {
            await own.process.kill();
            own = await serve(upstream, scratchDir, usd);
          },
          end: async () => void (await own.process.stop()),
        };
      },
    };
  },
};

/** `usd`: the daily budget of its one provider; null for no limit. */
async function serve(
  upstream: Upstream,
  scratchDir: string,
  usd: string | null,
): Promise<{ process: Process; target: Target }> {
  const port = freePort();
  const masterKey = `sk-${crypto.randomUUID()}`;
  const settings = join(scratchDir, `litellm-${port}.yaml`);
  writeFileSync(settings, settingsOf(upstream, usd));
  const sinceMs = performance.now();
  const { process } = launch({
    command: [program, "--config", settings, "--host", "127.0.0.1", `--port=${port}`, "--telemetry", "False"],
    core: "gateway",
    environment: { LITELLM_MASTER_KEY: masterKey, LITELLM_LOCAL_MODEL_COST_MAP: "True" },
    log: join(scratchDir, `litellm-${port}.log`),
  });
  await readyMs(`http://127.0.0.1:${port}/health/liveliness`, sinceMs, READY_WITHIN_MS);
  const headers = { Authorization: `Bearer ${masterKey}` };
  return {
    process,
    target: { origin: { hostname: "127.0.0.1", port }, path: "/v1/chat/completions", headers },
  };
}

/** Every script at the bench's rates. The text is JSON, which is valid YAML. */
const settingsOf = ({ port }: Upstream, usd: string | null): string =>
  JSON.stringify({
    model_list: SCRIPT_NAMES.map((model) => ({
      model_name: model,
      litellm_params: {
        model: `openai/${model}`,
        api_base: `http://127.0.0.1:${port}/v1`,
        api_key: accountOf(LITELLM),
        input_cost_per_token: Number(RATES.inputNano) / 1e9,
        output_cost_per_token: Number(RATES.outputNano) / 1e9,
      },
    })),
    ...(usd !== null && {
      router_settings: {
        provider_budget_config: { openai: { budget_limit: Number(usd), time_period: "1d" } },
      },
    }),
  });

/** Installs it once. */
async function install(): Promise<void> {
  if (existsSync(program)) return;
  console.log("installing LiteLLM for comparison (once, about 750 MB)");
  await run("python3", "-m", "venv", environment);
  await run(join(environment, "bin/pip"), "install", "--quiet", "--no-deps", "--requirement", requirements);
}

async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0)
    throw new Error(`pip could not install it: ${complaint.trim().slice(-300)}`);
}
