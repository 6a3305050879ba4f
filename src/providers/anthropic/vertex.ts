// Claude on Google Cloud: project, location and model in the path, authenticated by a service account's token.
import { z } from "zod";
import { credentials } from "../credentials/credentials.ts";
import { GoogleServiceAccount } from "../credentials/google-service-account.ts";
import { type ServiceAccountKey, serviceAccount } from "../credentials/service-account-key.ts";

export interface VertexPlace {
  project?: string;
  location?: string;
  service_account?: ServiceAccountKey;
}

export const vertexCredentials = credentials({
  settings: {
    service_account: serviceAccount.optional(),
    project: z
      .string()
      .regex(/^[a-z][a-z0-9:.-]{2,62}$/, "must be a project id, e.g. my-project-123")
      .optional()
      .describe("The Google Cloud project to call; default: the service account's own."),
    location: z
      .string()
      .regex(/^[a-z]+(-[a-z]+\d{1,2})?$/, "must be a Google Cloud location, e.g. global or europe-west1")
      .optional()
      .describe("The Google Cloud location; default: global."),
  },
  setting: "service_account",
  needed: true,
  given: ({ service_account }) => service_account !== undefined,
  wrong: ({ service_account }, { atHome }) =>
    atHome && service_account === undefined
      ? {
          setting: "service_account",
          message: "is required: the JSON key of an account with the role Vertex AI User",
        }
      : null,
  authorize({ service_account }) {
    return service_account === undefined ? () => ({}) : new GoogleServiceAccount(service_account).proof();
  },
});

/** Returns the path below `/v1`. */
export function vertexPath(
  { project, location = "global", service_account: account }: VertexPlace,
  { model, stream }: { model: string; stream: boolean },
): string {
  const parts = [
    "projects",
    project ?? account?.project ?? "",
    "locations",
    location,
    "publishers",
    "anthropic",
    "models",
  ];
  const method = stream ? "streamRawPredict" : "rawPredict";
  return `/${[...parts, model].map(encodeURIComponent).join("/").replaceAll("%40", "@")}:${method}`;
}
