// Every kind of provider that a configuration may name, one line each. The kind's folder defines everything else; the
// check of the settings, the editor's schema, doctor, health and the pages take it from there
// (docs/decisions/0031-one-line-per-provider.md).
import { anthropic } from "./anthropic/kind.ts";
import { bedrock } from "./bedrock/kind.ts";
import { google } from "./google/kind.ts";
import type { ProviderKind } from "./kind.ts";
import { openai } from "./openai/kind.ts";
import { VENDORS } from "./openai/vendors.ts";
import { simulator } from "./simulator/kind.ts";

export const PROVIDER_KINDS: readonly ProviderKind[] = [
  openai,
  ...VENDORS,
  anthropic,
  google,
  bedrock,
  simulator,
];
