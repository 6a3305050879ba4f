// The releases of a gateway without any configuration (interfaces.md §3): four demo models on the built-in
// simulator, signed with a key derived from the data key, which all gateways of a store share, and renewed
// before they expire.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import { byItself } from "../domain/actor.ts";
import { createHmac, createPrivateKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../domain/error-message.ts";
import type { Manifest } from "../domain/release.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { freezeRelease } from "../domain/freeze-release.ts";
import { type ManifestInput, parseManifest } from "./manifest.ts";
import type { Publisher } from "./publish.ts";
import { readReleaseKey, readTrustedKeys, type ReleaseKey, type TrustedKeys } from "./release-key.ts";
import type { RouteTable } from "./route-table.ts";
import { signRelease } from "./signature.ts";

/** Written by earlier versions: a key of this data directory only. */
const KEY_FILE = "demo-release.private.jwk";
const LIFETIME_MS = 30 * DAY_MS;
/** Renewed when less than this is left. */
const RENEW_BEFORE_MS = 7 * DAY_MS;
const CHECK_EVERY_MS = HOUR_MS;

const base = {
  provider: "simulator",
  region: "local",
  tier: "standard",
  context_window: 131_072,
  max_output_tokens: 8192,
  default_output_tokens: 1024,
  tokenizer: "o200k_base",
  capabilities: { tools: true, json_schema: true, max_n: 4 },
  defaults: { temperature: 1 },
} as const;
const pricing = {
  currency: "USD",
  input_per_million: "0.50",
  cached_input_per_million: "0.05",
  output_per_million: "1.50",
  request_minimum: "0.0001",
} as const;

const DEMO: readonly Omit<ManifestInput, "version">[] = [
  {
    ...base,
    model: "base-preview-v1",
    upstream_model: "sim-base-1",
    requires_paid: true,
    pricing,
    reasoning: { modes: ["none", "low", "medium", "high"], default: "medium" },
  },
  {
    ...base,
    model: "base-preview-v2",
    upstream_model: "sim-base-2",
    requires_paid: true,
    pricing: {
      ...pricing,
      input_per_million: "0.80",
      cached_input_per_million: "0.08",
      output_per_million: "3.20",
    },
    reasoning: { modes: ["none", "low", "high"], default: "low" },
  },
  {
    ...base,
    model: "base-research-1",
    upstream_model: "sim-research-1",
    tier: "research",
    pricing: {
      ...pricing,
      input_per_million: "5.00",
      cached_input_per_million: "0.50",
      output_per_million: "15.00",
    },
    reasoning: { modes: ["low", "high"], default: "high" },
  },
  {
    ...base,
    model: "plain-1",
    upstream_model: "sim-plain-1",
    pricing: { currency: "USD", input_per_million: "0.10", output_per_million: "0.40", request_minimum: "0" },
  },
];

/** The demo models' manifests with a given version. */
const demoManifests = (version = 1): Manifest[] =>
  DEMO.map((manifest) => parseManifest({ ...manifest, version }));

/**
 * The demo's own signing key, one for all gateways of a store: otherwise each would close routes signed by
 * another. Releases signed by an earlier version with the key of this directory stay open.
 */
export async function demoKeys({
  dataDir,
  dataKey,
}: {
  dataDir: string;
  dataKey: Uint8Array;
}): Promise<{ key: ReleaseKey; trusted: TrustedKeys }> {
  const jwk = drawnFrom(dataKey);
  const path = join(dataDir, KEY_FILE);
  try {
    const earlier = await readIfThere(path);
    const trusted = await readTrustedKeys(earlier === null ? [jwk] : [jwk, earlier]);
    return { key: await readReleaseKey(jwk), trusted };
  } catch (error) {
    throw unusable(path, error);
  }
}

/** The PKCS #8 prefix of the 32 bytes of an Ed25519 key (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

function drawnFrom(dataKey: Uint8Array): object {
  const seed = createHmac("sha256", dataKey).update("release key of the demo").digest();
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  return key.export({ format: "jwk" });
}

/** An earlier version's key cannot be used. */
class DemoKeyFailure extends Error {
  constructor(
    message: string,
    /** What to do, as a sentence. */
    readonly next: string,
  ) {
    super(message);
  }
}

function unusable(path: string, error: unknown): DemoKeyFailure {
  const said = messageOf(error);
  if (error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM"))
    return new DemoKeyFailure(
      `${path} cannot be read (${said})`,
      `Every file in the data directory must belong to the user who runs the gateway, including those that another user left there: chown -R USER ${dirname(path)}`,
    );
  return new DemoKeyFailure(
    `${path}, the key an earlier version signed the demo models with, cannot be used (${said})`,
    "Move it away: the next start signs them again.",
  );
}

export interface DemoPorts {
  publisher: Pick<Publisher, "publish" | "load">;
  routeTable: Pick<RouteTable, "route" | "highestVersion">;
  key: ReleaseKey;
  clock: Clock;
}

/**
 * Publishes what is missing, changed or about to expire; returns the routes it published. Leaves disabled
 * routes disabled.
 */
export async function renewDemo(ports: DemoPorts): Promise<string[]> {
  const renewed: string[] = [];
  for (const manifest of demoManifests()) if (await renewRoute(manifest, ports)) renewed.push(manifest.route);
  return renewed;
}

/**
 * False if the route needs no renewal. Another gateway of the store renews the same routes, perhaps at this moment: whatever it
 * published first is read and judged like any other release.
 */
async function renewRoute(
  manifest: Manifest,
  { publisher, routeTable, key, clock }: DemoPorts,
): Promise<boolean> {
  for (;;) {
    const standing = routeTable.route(manifest.route);
    if (standing !== null && isCurrent(manifest, standing, clock.nowMs())) return false;
    const highest = routeTable.highestVersion(manifest.route);
    const jws = await signRelease({ ...manifest, version: highest + 1 }, key, {
      expiresInMs: LIFETIME_MS,
      nowMs: clock.nowMs(),
    });
    const outcome = await publisher.publish(jws, byItself("demo"));
    if (outcome.kind === "published") return true;
    await publisher.load();
    const reason = outcome.kind === "refused" ? outcome.reason : "it was published already";
    if (routeTable.highestVersion(manifest.route) === highest)
      throw new Error(`a demo release was refused: ${reason}`);
  }
}

/** Checks once an hour whether a demo release needs renewal, until the returned function is called. */
export function keepDemoFresh(ports: DemoPorts, jobs: Jobs): () => void {
  const renewing = jobs.every("demo_renewal", CHECK_EVERY_MS, async () => void (await renewDemo(ports)));
  return () => jobs.run("demo_renewal", () => renewing.stop());
}

const CLOSED_FOR_GOOD = new Set(["untrusted_key", "unknown_terms", "superseded", "unreadable"]);

function isCurrent(
  manifest: Manifest,
  standing: NonNullable<ReturnType<RouteTable["route"]>>,
  nowMs: number,
): boolean {
  const { release, reason } = standing;
  if (reason !== null && CLOSED_FOR_GOOD.has(reason)) return false;
  const { digest, signedBy, issuedAtMs, expiresAtMs } = release;
  const same = freezeRelease(
    { ...manifest, version: release.version },
    { digest, signedBy, issuedAtMs, expiresAtMs },
  );
  return expiresAtMs - nowMs > RENEW_BEFORE_MS && Bun.deepEquals(same, release);
}

async function readIfThere(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
