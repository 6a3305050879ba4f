// The names of a caller's `anthropic-beta` header that are sent upstream: those that neither cost nor route. What
// they enable is paid for by the tokens that are reported anyway; a longer window, a faster tier, files, searches and
// the vendor's own rounds are not.

const HARMLESS: ReadonlySet<string> = new Set(
  `advanced-tool-use-2025-11-20 claude-code-20250219 context-management-2025-06-27 effort-2025-11-24
  extended-cache-ttl-2025-04-11 fine-grained-tool-streaming-2025-05-14 interleaved-thinking-2025-05-14
  model-context-window-exceeded-2025-08-26 pdfs-2024-09-25 prompt-caching-2024-07-31 prompt-caching-scope-2026-01-05
  redact-thinking-2026-02-12 structured-outputs-2025-11-13 thinking-binding-controls-2026-08-01
  token-efficient-tools-2025-02-19 tool-examples-2025-10-29 tool-search-tool-2025-10-19`.split(/\s+/),
);

/** Clouds that serve the vendor's models reject names that they do not know yet. */
const HARMLESS_AT_HOME: ReadonlySet<string> = new Set([
  "mid-conversation-system-clear-at-2026-08-21",
  "mid-conversation-tool-changes-2026-07-01",
  "task-budgets-2026-03-13",
  "thinking-display-updates-2026-08-18",
  "thinking-token-count-2026-05-13",
]);

export const BETA_HEADER = "anthropic-beta";

export interface Betas {
  /** The names to send. */
  names: string[];
  /** The others, as `x-gw-ignored-parameters` names them. */
  ignored: string[];
}

/** Reads the header as the caller sent it. `ownApi`: it goes to the vendor's own API. */
export function allowedBetas(header: string | undefined, ownApi: boolean): Betas {
  const names = (header ?? "").split(",").filter((name) => name !== "");
  const isSent = (name: string): boolean => HARMLESS.has(name) || (ownApi && HARMLESS_AT_HOME.has(name));
  return {
    names: names.filter(isSent),
    ignored: names.filter((name) => !isSent(name)).map((name) => `${BETA_HEADER}:${name}`),
  };
}
