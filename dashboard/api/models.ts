import type { Row } from "./routes.ts";

type Model = Row<"GET /orgs/{org}/models">;

/** True for a chat model; the others make embeddings. */
export const givesWords = ({ max_output_tokens: most }: Pick<Model, "max_output_tokens">): boolean =>
  most > 0;

/** The model for a first request: the snippets name it, the test request calls it. */
export const callableModel = (models: readonly Model[] = []): Model | undefined =>
  models.find(
    (model) =>
      givesWords(model) && model.access === "open" && model.state === "live" && model.tier === "standard",
  );
