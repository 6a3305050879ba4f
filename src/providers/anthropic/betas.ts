// The names in a caller's `anthropic-beta` header that are sent upstream: those that neither add costs nor change
// routing. What they enable is paid for by the tokens that are reported anyway. Not sent are a longer window, a faster
// tier, files, searches and rounds that the vendor runs itself.
import type { EnvelopeName } from "./envelopes.ts";

const namesIn = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/**
 * By host. A cloud answers 400 to a call with a name that it does not know, so it gets only names that are published as
 * known there (November 2026). Features that have become part of a cloud's API need no name there, such as an effort or
 * the form of an answer at Google.
 */
const SENT: Record<EnvelopeName, ReadonlySet<string>> = {
  direct: namesIn(
    `advanced-tool-use-2025-11-20 claude-code-20250219 context-management-2025-06-27 effort-2025-11-24
    extended-cache-ttl-2025-04-11 fine-grained-tool-streaming-2025-05-14 interleaved-thinking-2025-05-14
    mid-conversation-system-clear-at-2026-08-21 mid-conversation-tool-changes-2026-07-01
    model-context-window-exceeded-2025-08-26 pdfs-2024-09-25 prompt-caching-2024-07-31
    prompt-caching-scope-2026-01-05 redact-thinking-2026-02-12 structured-outputs-2025-11-13 task-budgets-2026-03-13
    thinking-binding-controls-2026-08-01 thinking-display-updates-2026-08-18 thinking-token-count-2026-05-13
    token-efficient-tools-2025-02-19 tool-examples-2025-10-29 tool-search-tool-2025-10-19`,
  ),
  foundry: namesIn(
    `advanced-tool-use-2025-11-20 claude-code-20250219 context-management-2025-06-27 effort-2025-11-24
    interleaved-thinking-2025-05-14 prompt-caching-scope-2026-01-05 structured-outputs-2025-11-13
    thinking-display-updates-2026-08-18`,
  ),
  vertex: namesIn(
    `claude-code-20250219 context-management-2025-06-27 interleaved-thinking-2025-05-14
    thinking-binding-controls-2026-08-01 thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19`,
  ),
  bedrock: namesIn(
    `claude-code-20250219 context-management-2025-06-27 effort-2025-11-24 fine-grained-tool-streaming-2025-05-14
    interleaved-thinking-2025-05-14 structured-outputs-2025-11-13 thinking-binding-controls-2026-08-01
    thinking-display-updates-2026-08-18 token-efficient-tools-2025-02-19 tool-examples-2025-10-29 tool-search-tool-2025-10-19`,
  ),
};

/** Features that some hosts know by an older name only. */
const RENAMED: Partial<Record<EnvelopeName, Readonly<Record<string, string>>>> = {
  vertex: { "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19" },
  bedrock: { "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19" },
};

export const BETA_HEADER = "anthropic-beta";

export interface Betas {
  /** The names to send. */
  names: string[];
  /** The names that are not sent, as listed in `x-gw-ignored-parameters`. */
  ignored: string[];
}

/** Reads the header as the caller sent it, for a call to this host. */
export function allowedBetas(header: string | undefined, host: EnvelopeName): Betas {
  const names = new Set<string>();
  const ignored: string[] = [];
  for (const name of (header ?? "").split(",")) {
    const known = RENAMED[host]?.[name] ?? name;
    if (isSent(known, host)) names.add(known);
    else if (name !== "") ignored.push(`${BETA_HEADER}:${name}`);
  }
  return { names: [...names], ignored };
}

/** True if a caller may send this name to the host. */
export const isSent = (name: string, host: EnvelopeName): boolean => SENT[host].has(name);
