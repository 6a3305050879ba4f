// The cast of a seeded store: three organizations with their people and keys, and how each key is used.
import type { Role } from "../../domain/roles.ts";
import type { Tier } from "../../domain/gateway-object.ts";

interface SeededPerson {
  name: string;
  email: string;
  role: Role;
}

/** When a key is used: in its people's office hours, around the clock, or by a nightly job. */
type Hours = "office" | "round" | "night";

/** How one key is used. Shares and parts are fractions from 0 to 1. */
export interface SeededKey {
  name: string;
  /** The address of the person who created it. */
  by: string;
  scope?: Tier;
  hours: Hours;
  /** Its share of all requests. */
  share: number;
  models: (readonly [string, number])[];
  promptTokens: number;
  outputTokens: number;
  /** Shares of its requests: streamed; with an idempotency key; with most of the prompt cached. */
  streamed: number;
  keyed: number;
  cached: number;
  /** Its monthly limit as a fraction of what it would spend without one; omitted, it has none. */
  limit?: number;
  /** Revoked at this fraction of the seeded time. */
  revokedAt?: number;
  /** The fraction of its requests that comes in the last hours: a job that got out of hand. */
  surge?: number;
}

export interface SeededOrganization {
  name: string;
  people: SeededPerson[];
  keys: SeededKey[];
  /** Credits as fractions of the expected spend: when (fraction of the seeded time), how much, how paid. */
  credits: { at: number; part: number; kind: "purchase" | "grant"; automatic?: true }[];
}

export const CAST: readonly SeededOrganization[] = [
  {
    name: "Northwind Robotics",
    people: [
      { name: "Olga Brandt", email: "olga@northwind.example", role: "owner" },
      { name: "Noor Haddad", email: "noor@northwind.example", role: "admin" },
      { name: "Dora Kim", email: "dora@northwind.example", role: "developer" },
      { name: "Felix Aubert", email: "felix@northwind.example", role: "developer" },
      { name: "Bela Novak", email: "bela@northwind.example", role: "billing" },
    ],
    keys: [
      key(
        {
          name: "Production",
          by: "noor",
          hours: "round",
          share: 0.24,
          promptTokens: 1900,
          outputTokens: 260,
        },
        { streamed: 0.9, keyed: 0.35, cached: 0.55, limit: 2.4 },
        [
          ["gpt-5.4-mini", 5],
          ["glm-5", 3],
          ["claude-sonnet-5", 1],
        ],
      ),
      key(
        {
          name: "Support assistant",
          by: "dora",
          hours: "office",
          share: 0.13,
          promptTokens: 3200,
          outputTokens: 340,
        },
        { streamed: 1, keyed: 0.1, cached: 0.7, limit: 1.15 },
        [
          ["claude-sonnet-5", 4],
          ["gpt-5.4-mini", 2],
        ],
      ),
      key(
        {
          name: "batch",
          by: "noor",
          hours: "night",
          share: 0.13,
          promptTokens: 26_000,
          outputTokens: 900,
          surge: 0.7,
        },
        { streamed: 0, keyed: 0.8, cached: 0.2 },
        [
          ["glm-5", 4],
          ["deepseek-v4", 2],
          ["llama-4-scout", 2],
        ],
      ),
      key(
        {
          name: "Coding agents",
          by: "felix",
          hours: "office",
          share: 0.1,
          promptTokens: 21_000,
          outputTokens: 620,
        },
        { streamed: 1, keyed: 0, cached: 0.85, limit: 0.62 },
        [
          ["qwen3-coder", 5],
          ["claude-sonnet-5", 1],
        ],
      ),
      key(
        { name: "Search index", by: "dora", hours: "round", share: 0.07, promptTokens: 640, outputTokens: 0 },
        { streamed: 0, keyed: 0.05, cached: 0 },
        [["embed-3-small", 1]],
      ),
      key(
        {
          name: "Felix's laptop",
          by: "felix",
          hours: "office",
          share: 0.02,
          promptTokens: 700,
          outputTokens: 240,
          revokedAt: 0.64,
        },
        { streamed: 0.8, keyed: 0, cached: 0 },
        [
          ["glm-5", 2],
          ["qwen3-coder", 1],
        ],
      ),
    ],
    credits: [
      { at: 0, part: 0.03, kind: "grant" },
      { at: 0.001, part: 0.5, kind: "purchase" },
      { at: 0.38, part: 0.3, kind: "purchase", automatic: true },
      { at: 0.74, part: 0.45, kind: "purchase" },
    ],
  },
  {
    name: "Basalt Labs",
    people: [
      { name: "Ines Rojas", email: "ines@basalt.example", role: "owner" },
      { name: "Marek Dvorak", email: "marek@basalt.example", role: "developer" },
      { name: "Yuki Tanaka", email: "yuki@basalt.example", role: "developer" },
      { name: "Sam Okafor", email: "sam@basalt.example", role: "viewer" },
    ],
    keys: [
      key(
        {
          name: "Evaluation",
          by: "marek",
          hours: "night",
          share: 0.1,
          promptTokens: 1100,
          outputTokens: 480,
        },
        { streamed: 0.1, keyed: 0.5, cached: 0.1, limit: 3 },
        [
          ["glm-5", 2],
          ["deepseek-v4", 2],
          ["llama-4-scout", 2],
          ["gpt-5.4-mini", 1],
        ],
      ),
      key(
        { name: "Notebook", by: "yuki", hours: "office", share: 0.06, promptTokens: 900, outputTokens: 420 },
        { streamed: 0.7, keyed: 0, cached: 0.2 },
        [
          ["claude-sonnet-5", 1],
          ["glm-5", 2],
        ],
      ),
      key(
        {
          name: "Long context research",
          by: "yuki",
          scope: "research",
          hours: "office",
          share: 0.03,
          promptTokens: 42_000,
          outputTokens: 1500,
        },
        { streamed: 1, keyed: 0, cached: 0.4 },
        [["kimi-k3-research", 1]],
      ),
      key(
        {
          name: "Data labelling",
          by: "marek",
          hours: "round",
          share: 0.06,
          promptTokens: 480,
          outputTokens: 60,
        },
        { streamed: 0, keyed: 0.4, cached: 0.3, limit: 0.9 },
        [["llama-4-scout", 1]],
      ),
      key(
        {
          name: "Old prototype",
          by: "ines",
          hours: "office",
          share: 0.01,
          promptTokens: 600,
          outputTokens: 200,
          revokedAt: 0.3,
        },
        { streamed: 0, keyed: 0, cached: 0 },
        [["deepseek-v4", 1]],
      ),
    ],
    credits: [
      { at: 0, part: 0.1, kind: "grant" },
      { at: 0.002, part: 0.7, kind: "purchase" },
      { at: 0.7, part: 0.6, kind: "purchase" },
    ],
  },
  {
    name: "Juniper Health",
    people: [
      { name: "Hana Lewis", email: "hana@juniper.example", role: "owner" },
      { name: "Paul Weber", email: "paul@juniper.example", role: "developer" },
    ],
    keys: [
      key(
        { name: "Triage", by: "paul", hours: "office", share: 0.05, promptTokens: 6000, outputTokens: 420 },
        { streamed: 1, keyed: 0.2, cached: 0.3 },
        [
          ["claude-sonnet-5", 3],
          ["gpt-5.4-mini", 1],
        ],
      ),
      key(
        { name: "Letters", by: "paul", hours: "office", share: 0.02, promptTokens: 1500, outputTokens: 900 },
        { streamed: 0.5, keyed: 0.6, cached: 0.1 },
        [["gpt-5.4-mini", 1]],
      ),
      key(
        {
          name: "Staging",
          by: "hana",
          hours: "office",
          share: 0.01,
          promptTokens: 300,
          outputTokens: 90,
        },
        { streamed: 0.3, keyed: 0, cached: 0, limit: 0.4 },
        [["gpt-5.4-mini", 1]],
      ),
      key(
        {
          name: "Never used",
          by: "hana",
          hours: "office",
          share: 0,
          promptTokens: 300,
          outputTokens: 90,
        },
        { streamed: 0, keyed: 0, cached: 0, limit: 1 },
        [["gpt-5.4-mini", 1]],
      ),
    ],
    credits: [
      { at: 0, part: 0.06, kind: "grant" },
      { at: 0.003, part: 0.4, kind: "purchase" },
      { at: 0.62, part: 0.5, kind: "purchase" },
    ],
  },
];

type Sizes =
  | "name"
  | "by"
  | "scope"
  | "hours"
  | "share"
  | "promptTokens"
  | "outputTokens"
  | "revokedAt"
  | "surge";

function key(
  sizes: Pick<SeededKey, Sizes>,
  manner: Omit<SeededKey, Sizes | "models">,
  models: SeededKey["models"],
): SeededKey {
  return { ...sizes, ...manner, models };
}
