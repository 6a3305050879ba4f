import OpenAI from "openai";

const client = new OpenAI({ baseURL: "http://127.0.0.1:37579/v1", apiKey: process.env.TOLLGATE_KEY });
const completion = await client.chat.completions.create(
  { model: "base-preview-v1", messages: [{ role: "user", content: "Say hello" }] },
  { headers: { "Idempotency-Key": crypto.randomUUID() } }, // a retry with this key never pays again
);
console.log(completion.choices[0]?.message.content);
