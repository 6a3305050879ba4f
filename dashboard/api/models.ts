import type { Row } from "./routes.ts";

type Model = Row<"GET /orgs/{org}/models">;

/** A model that one can talk to; the others make vectors. */
export const givesWords = ({ max_output_tokens: most }: Pick<Model, "max_output_tokens">): boolean =>
  most > 0;

/** What a first request can be sent to: the snippets name it, the test request asks it. */
export const callableModel = (models: readonly Model[] = []): Model | undefined =>
  models.find(
    (model) =>
      givesWords(model) && model.access === "open" && model.state === "live" && model.tier === "standard",
  );
