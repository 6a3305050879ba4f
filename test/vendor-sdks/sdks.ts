// The parts used by the tests of SDKs that are not among the project's own packages: only those, and optional
// wherever the vendor says so.

interface ClaudeBlock {
  type: string;
  text?: string;
  thinking?: string;
  signature?: string;
  id?: string;
  name?: string;
  input?: unknown;
}
interface ClaudeMessage {
  content: ClaudeBlock[];
  stop_reason: string;
  usage: { input_tokens: number; output_tokens: number; cache_creation_input_tokens: number | null };
}
interface ClaudeStream {
  on(event: "text" | "thinking", hear: (words: string) => void): unknown;
  finalMessage(): Promise<ClaudeMessage>;
}
export interface AnthropicClient {
  messages: { create(body: object): Promise<ClaudeMessage>; stream(body: object): ClaudeStream };
}

interface TokenCandidate {
  token?: string;
}
interface GeminiAnswer {
  text?: string;
  functionCalls?: { name?: string; args?: object }[];
  candidates?: {
    finishReason?: string;
    content?: { parts?: { functionCall?: object; thoughtSignature?: string }[] };
    logprobsResult?: {
      chosenCandidates?: TokenCandidate[];
      topCandidates?: { candidates?: TokenCandidate[] }[];
    };
  }[];
  usageMetadata?: { promptTokenCount?: number; candidatesTokenCount?: number; thoughtsTokenCount?: number };
}
interface GeminiChat {
  sendMessage(said: { message: unknown }): Promise<GeminiAnswer>;
  sendMessageStream(said: { message: unknown }): Promise<AsyncIterable<GeminiAnswer>>;
}
export interface GoogleClient {
  models: {
    generateContent(call: object): Promise<GeminiAnswer>;
    generateContentStream(call: object): Promise<AsyncIterable<GeminiAnswer>>;
  };
  chats: { create(options: object): GeminiChat };
}

interface ConverseUsage {
  inputTokens?: number;
  outputTokens?: number;
  cacheWriteInputTokens?: number;
  cacheDetails?: object[];
}
interface ConverseEvent {
  contentBlockStart?: { contentBlockIndex?: number; start?: { toolUse?: object } };
  contentBlockDelta?: {
    contentBlockIndex?: number;
    delta?: {
      toolUse?: { input?: string };
      reasoningContent?: { text?: string; signature?: string };
    };
  };
  messageStop?: { stopReason?: string };
  metadata?: { usage?: ConverseUsage };
}
interface ConverseAnswer {
  output?: { message?: { content?: object[] } };
  stopReason?: string;
  usage?: ConverseUsage;
  stream?: AsyncIterable<ConverseEvent>;
}
type Command = new (input: object) => object;
export interface BedrockSdk {
  BedrockRuntimeClient: new (
    options: object,
  ) => {
    send(command: object): Promise<ConverseAnswer>;
    destroy(): void;
  };
  ConverseCommand: Command;
  ConverseStreamCommand: Command;
}
