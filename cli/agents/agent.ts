// A coding agent that `setup` can point at the gateway: where its configuration stands, and what it has to say.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** What `GET /v1/models` says of a model, as far as it is asked here. */
export interface ListedModel {
  id: string;
  context_length: number;
  max_output_tokens: number;
  capabilities: { tools: boolean; images: boolean; files?: boolean };
  reasoning: { modes: readonly string[] } | null;
}

export interface Wanted {
  /** Of the gateway; the API lies under `/v1`. */
  url: string;
  /** Of the environment variable that holds the key, which is never written. */
  keyName: string;
  /** Those that the key may use; only the one to begin with, for agents that need to be told one. */
  models: readonly [ListedModel, ...ListedModel[]];
}

export interface Agent {
  name: string;
  description: string;
  /** What decides the file where `--file` is not given, for the help. */
  where: string;
  /** That file. */
  file(env: NodeJS.ProcessEnv): string;
  /** Whether its configuration names one model to begin with. */
  oneModel: boolean;
  /** The file with the gateway in it; null where writing it anew would lose something. `Problem` where it could not work. */
  merged(before: string, wanted: Wanted): string | null;
  /** What somebody pastes where it cannot be merged, and where. */
  alone(wanted: Wanted): string;
  place: string;
  /** What to do once it is written. */
  start(file: string): string;
}

export const homeFolder = (env: NodeJS.ProcessEnv): string => env["HOME"] ?? homedir();

/** Where configurations stand that obey the XDG rules. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const given = env["XDG_CONFIG_HOME"] ?? "";
  return isAbsolute(given) ? given : join(homeFolder(env), ".config");
}
