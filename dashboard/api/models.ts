import type { Row } from "./routes.ts";

type Model = Row<"GET /orgs/{org}/models">;

/** What a first request can be sent to: the snippets name it, the test request asks it. */
export const callableModel = (models: readonly Model[] = []): Model | undefined =>
  models.find(({ access, state, tier }) => access === "open" && state === "live" && tier === "standard");
