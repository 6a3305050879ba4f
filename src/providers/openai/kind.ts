// `kind: openai`: every upstream with the chat-completions shape. Its dialect is a preset, overridden point by point
// where it differs (providers.md §2). Vendors with a kind of their own are rows of `vendors.ts`.
import { apiKeyCredentials } from "../credentials/api-key.ts";
import type { ProviderKind } from "../kind.ts";
import { anyDialect } from "./dialect-setting.ts";
import { chatKind } from "./vendor-kind.ts";

export const openai: ProviderKind = chatKind({
  name: "openai",
  title: "OpenAI",
  description: "The chat-completions format of OpenAI and most vendors.",
  hosts: ["api.openai.com"],
  addressExample: "https://api.openai.com/v1",
  probePath: "/models",
  credentials: apiKeyCredentials({ header: "authorization", needed: true }),
  dialect: anyDialect,
  responses: true,
});
