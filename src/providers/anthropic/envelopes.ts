// Where the Anthropic shape is served, and how the places differ: the address, the path, where model and version go,
// and the credentials (providers.md §1).
import { apiKeyCredentials } from "../credentials/api-key.ts";
import { awsCredentials } from "../credentials/aws.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { azureCredentials } from "../credentials/entra.ts";
import type { Wrong } from "../setting.ts";
import { type VertexPlace, vertexCredentials, vertexPath } from "./vertex.ts";

export const ENVELOPE_NAMES = ["direct", "foundry", "vertex", "bedrock"] as const;
export type EnvelopeName = (typeof ENVELOPE_NAMES)[number];

/** The settings of all envelopes; each envelope lists its own. */
export interface EnvelopeOwn extends VertexPlace {
  region?: string;
}

export interface Envelope {
  /** The operator of the envelope, for people. */
  title: string;
  /** The settings that apply here. */
  settings: readonly string[];
  /** Returns its own address; null if each account has one. */
  home(own: EnvelopeOwn): string | null;
  /** Its own hosts, or their endings. */
  hosts: readonly string[];
  example: string;
  credentials: Credentials;
  /** Returns what is wrong apart from its credentials. */
  lacks?(own: EnvelopeOwn): Wrong | null;
  /** Returns the path below the base URL. */
  path(own: EnvelopeOwn, call: { model: string; stream: boolean }): string;
  /** The API's version, if it goes into the body and the model into the path. */
  versionInBody: string | null;
  /** The response header with the upstream's request id. */
  idHeader: string;
  /** True if it knows the vendor's own switch for thoughts that belong to another conversation. */
  binding: boolean;
  /** True if a system message may stand within a conversation there, where the model knows such turns. */
  systemTurns: boolean;
  /** True if it counts a prompt's tokens free of charge, beside its messages. */
  counts: boolean;
}

const MESSAGES = {
  path: () => "/messages",
  versionInBody: null,
  idHeader: "request-id",
  binding: false,
  systemTurns: true,
  counts: true,
};
const DIRECT = "https://api.anthropic.com/v1";

export const ENVELOPES: Record<EnvelopeName, Envelope> = {
  direct: {
    ...MESSAGES,
    title: "Anthropic",
    settings: ["api_key"],
    home: () => DIRECT,
    hosts: ["api.anthropic.com"],
    example: DIRECT,
    credentials: apiKeyCredentials({ header: "x-api-key", needed: true }),
    binding: true,
  },
  foundry: {
    ...MESSAGES,
    title: "Azure",
    settings: ["api_key", "entra"],
    home: () => null,
    hosts: [".services.ai.azure.com"],
    example: "https://my-resource.services.ai.azure.com/anthropic/v1",
    credentials: azureCredentials,
    systemTurns: false,
  },
  vertex: {
    title: "Google",
    settings: ["service_account", "project", "location"],
    home: ({ location = "global" }) => `https://${vertexHost(location)}/v1`,
    hosts: [".googleapis.com"],
    example: "https://europe-west1-aiplatform.googleapis.com/v1",
    credentials: vertexCredentials,
    lacks: ({ project, service_account: account }) =>
      (project ?? account?.project ?? null) === null
        ? { setting: "project", message: "is required: the Google Cloud project to call and to bill" }
        : null,
    path: vertexPath,
    versionInBody: "vertex-2023-10-16",
    idHeader: "x-request-id",
    binding: false,
    systemTurns: true,
    counts: false,
  },
  bedrock: {
    ...MESSAGES,
    title: "Amazon Bedrock",
    settings: ["region", "api_key", "access_key_id", "secret_access_key", "session_token", "role"],
    home: ({ region }) => `https://bedrock-mantle.${region}.api.aws/anthropic/v1`,
    hosts: [".api.aws"],
    example: "https://bedrock-mantle.us-east-1.api.aws/anthropic/v1",
    credentials: awsCredentials("bedrock-mantle"),
    lacks: ({ region }) =>
      region === undefined
        ? { setting: "region", message: "is required: the AWS region to call, e.g. us-east-1" }
        : null,
    idHeader: "x-amzn-requestid",
    counts: false,
  },
};

/** One host for the world, one for each multi-region that guarantees to stay there, one for each region. */
function vertexHost(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
}
