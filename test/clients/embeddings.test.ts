// Embeddings through the unmodified LangChain and AI SDK; OpenAI's SDK is in test/api/embeddings.test.ts.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAIEmbeddings } from "@langchain/openai";
import { embedMany } from "ai";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { VECTORS } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [VECTORS] });
  customer = await gateway.customer({ usd: "10" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const TEXTS = ["Once upon a time", "there was a river"];
const billed = (): number => gateway.simulator.bill().at(-1)?.prompt_tokens ?? -1;

test("LangChain and the AI SDK get the same vectors, one for each text, and the latter also the billed usage", async () => {
  const langchain = new OpenAIEmbeddings({
    model: VECTORS.model,
    apiKey: customer.secret,
    maxRetries: 0,
    configuration: { baseURL: gateway.baseUrl },
  });
  const vectors = await langchain.embedDocuments(TEXTS);
  expect(vectors).toHaveLength(2);
  expect(vectors[0]).not.toEqual(vectors[1]);
  const provider = createOpenAICompatible({
    name: "tollgate",
    baseURL: gateway.baseUrl,
    apiKey: customer.secret,
  });
  const { embeddings, usage } = await embedMany({
    model: provider.embeddingModel(VECTORS.model),
    values: TEXTS,
  });
  expect(usage.tokens).toBe(billed());
  const near = (value: number): number => expect.closeTo(value, 6) as unknown as number;
  expect(embeddings).toEqual(vectors.map((vector) => vector.map(near)));
});
