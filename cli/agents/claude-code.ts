// Writes this gateway into a settings file of Claude Code (https://code.claude.com/docs/en/settings): a separate
// file, which `claude --settings` layers over the others, or settings.json itself if `--file` says so. The key is
// never written: the settings name a helper that prints the environment variable that holds it.
import { join } from "node:path";
import { Problem } from "../problem.ts";
import { type Agent, homeFolder, type Wanted } from "./agent.ts";
import { indentOf, type Members, membersOf, print, read } from "./plain-json.ts";

const OWN_FILE = "tollgate.json";

export const claudeCode: Agent = {
  name: "claude-code",
  description: "write Claude Code settings for this gateway; shows them and asks first",
  where: `${OWN_FILE} in CLAUDE_CONFIG_DIR, else in ~/.claude`,
  file: (env) => join(env["CLAUDE_CONFIG_DIR"] || join(homeFolder(env), ".claude"), OWN_FILE),
  oneModel: true,
  merged,
  alone: (wanted) => print(settingsOver({}, wanted)),
  place: "beside its other settings",
  start: (file) =>
    file.endsWith("settings.json")
      ? "Claude Code uses this gateway from now on."
      : `Start Claude Code with: claude --settings ${file}`,
};

/** The variables that Claude Code would send in place of the helper's key. */
const OUTRANKING = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"];

function merged(text: string, wanted: Wanted): string | null {
  if (text.trim() === "") return print(settingsOver({}, wanted));
  const settings = membersOf(read(text));
  const env = membersOf(settings?.["env"] ?? {});
  if (settings === null || env === null) return null;
  const other = OUTRANKING.find((name) => name in env);
  if (other !== undefined)
    throw new Problem(
      `The settings have env.${other}: Claude Code would send that to the gateway, not the key.`,
      "Remove it, or omit --file: a separate settings file does not affect these.",
    );
  return print(settingsOver(settings, wanted), indentOf(text));
}

/** Maps Claude Code's names for its own maker's models to the one model here, unless the user has set them. */
function settingsOver(settings: Members, { url, keyName, models: [model] }: Wanted): Members {
  const families = ["OPUS", "SONNET", "HAIKU", "FABLE"].map((family) => [
    `ANTHROPIC_DEFAULT_${family}_MODEL`,
    model.id,
  ]);
  return {
    ...settings,
    apiKeyHelper: `printenv ${keyName}`,
    env: {
      ...Object.fromEntries(families),
      ...membersOf(settings["env"] ?? {}),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_MODEL: model.id,
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(model.max_output_tokens),
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(model.context_length),
    },
  };
}
