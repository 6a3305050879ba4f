// Writes this gateway as a profile of Codex (https://developers.openai.com/codex/config-advanced): a separate file
// beside config.toml, which is not changed. The key is never written: the profile names the environment variable that
// holds it.
import { join } from "node:path";
import { type Agent, homeFolder, type Wanted } from "./agent.ts";

const PROFILE = "tollgate";
const HEAD =
  "# Written by `tollgate setup codex`. `codex --profile tollgate` applies it on top of config.toml.";

export const codex: Agent = {
  name: "codex",
  description: "write a Codex profile for this gateway; shows it and asks first",
  where: `${PROFILE}.config.toml in CODEX_HOME, else in ~/.codex`,
  file: (env) => join(env["CODEX_HOME"] || join(homeFolder(env), ".codex"), `${PROFILE}.config.toml`),
  oneModel: true,
  merged: (before, wanted) => (isOurs(before) ? profile(wanted) : null),
  alone: profile,
  place: "in place of its present values",
  start: (file) => `Start Codex with: codex --profile ${profileOf(file)}`,
};

const profileOf = (file: string): string => /([^/\\]+)\.config\.toml$/.exec(file)?.[1] ?? PROFILE;

/**
 * `web_search`: Codex offers OpenAI's own, which no route of the gateway has. Retries: Codex sends no
 * `Idempotency-Key`, so each retry is a separate paid call; its default is 30.
 */
function profile({ url, keyName, models: [model] }: Wanted): string {
  return `${HEAD}
model = ${quoted(model.id)}
model_provider = "${PROFILE}"
model_context_window = ${model.context_length}
web_search = "disabled"

[model_providers.${PROFILE}]
name = "Tollgate"
base_url = ${quoted(`${url}/v1`)}
env_key = "${keyName}"
wire_api = "responses"
request_max_retries = 2
stream_max_retries = 2
`;
}

/** A JSON string is also a valid TOML basic string. */
const quoted = (text: string): string => JSON.stringify(text);

const PLAIN = ["model", "model_provider", "name", "base_url", "env_key", "wire_api", "web_search"];
const KEYS = new Set([...PLAIN, "model_context_window", "request_max_retries", "stream_max_retries"]);

/** True if the file contains nothing that only a person can have written. */
function isOurs(text: string): boolean {
  const known = new Set(["", HEAD, `[model_providers.${PROFILE}]`]);
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .every((line) => known.has(line) || KEYS.has(/^(\w+) *= *(?:"[^"\\]*"|\d+)$/.exec(line)?.[1] ?? ""));
}
