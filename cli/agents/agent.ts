// A coding agent that `setup` can point at the gateway: the location and the content of its configuration.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The fields of a model in `GET /v1/models` that are used here. */
export interface ListedModel {
  id: string;
  context_length: number;
  max_output_tokens: number;
  capabilities: { tools: boolean; images: boolean; files?: boolean };
  reasoning: { modes: readonly string[] } | null;
}

export interface Wanted {
  /** The gateway's base URL; the API is under `/v1`. */
  url: string;
  /** The name of the environment variable that holds the key. The key itself is never written. */
  keyName: string;
  /** The models that the key may use; only the default model, for agents that take a single one. */
  models: readonly [ListedModel, ...ListedModel[]];
}

export interface Agent {
  name: string;
  description: string;
  /** Says in the help which file is used without `--file`. */
  where: string;
  /** The path of that file. */
  file(env: NodeJS.ProcessEnv): string;
  /** True if the configuration names a single default model. */
  oneModel: boolean;
  /**
   * The file with the gateway added; null if rewriting it would lose something. Throws `Problem` if the result could
   * not work.
   */
  merged(before: string, wanted: Wanted): string | null;
  /** What the user pastes, and where, if the file cannot be merged. */
  alone(wanted: Wanted): string;
  place: string;
  /** What to do once the file is written. */
  start(file: string): string;
}

export const homeFolder = (env: NodeJS.ProcessEnv): string => env["HOME"] ?? homedir();

/** The directory of configurations that follow the XDG rules. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const given = env["XDG_CONFIG_HOME"] ?? "";
  return isAbsolute(given) ? given : join(homeFolder(env), ".config");
}
