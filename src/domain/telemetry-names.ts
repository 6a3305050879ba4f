// The external names of traces and metrics, in one place: OpenTelemetry's conventions for generative AI, none of which is stable
// yet (read 2026-11; `cache_creation` is on its way to `cache_write`), those for HTTP, and our own.

/** Span attributes; metric labels are the same with underscores. */
export const ATTRIBUTE = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  responseId: "gen_ai.response.id",
  finishReasons: "gen_ai.response.finish_reasons",
  firstChunkSeconds: "gen_ai.response.time_to_first_chunk",
  maxTokens: "gen_ai.request.max_tokens",
  choices: "gen_ai.request.choice.count",
  stream: "gen_ai.request.stream",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  errorType: "error.type",
  method: "http.request.method",
  path: "http.route",
  status: "http.response.status_code",
  requestId: "tollgate.request.id",
  organizationId: "tollgate.organization.id",
  keyId: "tollgate.key.id",
  outcome: "tollgate.outcome",
  surface: "tollgate.surface",
  configuredProvider: "tollgate.provider",
  route: "tollgate.route",
  attempt: "tollgate.attempt",
  holdUsd: "tollgate.hold_usd",
  chargeUsd: "tollgate.charge_usd",
  varianceUsd: "tollgate.variance_usd",
  evidence: "tollgate.evidence",
  promptTokensMax: "tollgate.prompt_tokens_max",
} as const;

/** Metrics of the conventions, with the unit appended to the name as in Prometheus. */
export const GEN_AI_METRIC = {
  tokenUsage: "gen_ai_client_token_usage",
  operationDuration: "gen_ai_client_operation_duration_seconds",
  timeToFirstToken: "gen_ai_server_time_to_first_token_seconds",
} as const;

/** Labels of those metrics. */
export const METRIC_LABEL = {
  operation: "gen_ai_operation_name",
  provider: "gen_ai_provider_name",
  requestModel: "gen_ai_request_model",
  tokenType: "gen_ai_token_type",
  errorType: "error_type",
} as const;

/** Names of a request's spans; an attempt is named after its operation and model. */
export const SPAN = { admit: "tollgate.admit", settle: "tollgate.settle" } as const;

const OPERATIONS: Record<string, string> = { embeddings: "embeddings", completions: "text_completion" };

/** `gen_ai.operation.name` of a surface; for most of them it is chat. */
export const operationOf = (surface: string): string => OPERATIONS[surface] ?? "chat";

const WELL_KNOWN_PROVIDERS: Record<string, string> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  "bedrock-openai": "aws.bedrock",
  google: "gcp.gemini",
  "gemini-openai": "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/** `gen_ai.provider.name` by a provider's name in the configuration. A kind that the conventions do not know uses its own name. */
export const providerNames = (
  providers: readonly { name: string; kind: { name: string } }[],
): ReadonlyMap<string, string> =>
  new Map(providers.map(({ name, kind }) => [name, WELL_KNOWN_PROVIDERS[kind.name] ?? kind.name]));
