// Providers' messages about requests that they refuse, in each shape, and a request on each surface to which they
// could apply.

export const openai = (
  param: string | null,
  message = "Invalid value.",
  code: string | null = null,
): object => ({
  error: { message, type: "invalid_request_error", param, code },
});
export const claude = (message: string): object => ({
  type: "error",
  error: { type: "invalid_request_error", message },
  request_id: "req_up",
});
export const gemini = (message: string, ...fields: string[]): object => ({
  error: {
    code: 400,
    message,
    status: "INVALID_ARGUMENT",
    ...(fields.length > 0 && {
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: fields.map((field) => ({ field, description: "Invalid value" })),
        },
      ],
    }),
  },
});
export const converse = (path: string): object => ({
  message: `1 validation error detected: Value 'x' at '${path}' failed to satisfy constraint: Member must not be null`,
});

export const SCHEMA = { type: "object", properties: {} };
export const FUNCTION = { type: "function", function: { name: "look", parameters: SCHEMA } };
const IMAGE = "data:image/png;base64,iVBORw0KGgo=";

interface Door {
  path: string;
  body(this: void, model: string): object;
}
export const DOORS: Record<"chat" | "completions" | "messages" | "responses" | "embeddings", Door> = {
  chat: {
    path: "/v1/chat/completions",
    body: (model) => ({
      model,
      messages: [
        { role: "system", content: "Be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image_url", image_url: { url: IMAGE } },
          ],
        },
      ],
    }),
  },
  completions: { path: "/v1/completions", body: (model) => ({ model, prompt: "Hi" }) },
  messages: {
    path: "/v1/messages",
    body: (model) => ({
      model,
      max_tokens: 64,
      system: "Be brief",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: IMAGE.split(",")[1] },
            },
          ],
        },
      ],
    }),
  },
  responses: {
    path: "/v1/responses",
    body: (model) => ({
      model,
      store: false,
      instructions: "Be brief",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Hi" },
            { type: "input_image", image_url: IMAGE },
          ],
        },
      ],
    }),
  },
  embeddings: { path: "/v1/embeddings", body: () => ({ model: "vectors", input: ["Hi", "there"] }) },
};
