// The ledger alone: admissions and settlements of one organization, or of several in turn, against the configured
// store, in a separate process, so that its CPU time is the ledger's (`pairs.ts`). `&organizations=40` uses that many
// of the ORGANIZATIONS made at start. `&limited=1` uses an organization whose key has limits of its own, `&limited=4`
// one with limits of all subjects that a request counts for, `&limited=0` a similar one without limits. The store is
// the folder in DIRECTORY, or the PostgreSQL that DATABASE_URL names.
import { byItself } from "../src/domain/actor.ts";
import { loadConfig } from "../src/config/config.ts";
import { nanoUsd } from "../src/domain/money.ts";
import { FORMATS } from "../src/gateway/formats/formats.ts";
import type { Settlement } from "../src/ledger/ledger.ts";
import { createLog } from "../src/lib/log.ts";
import { rateDefaultsOf } from "../src/limits/caller-limits.ts";
import { jobsOn } from "../src/main/jobs.ts";
import { openStore } from "../src/main/store.ts";
import { setRateLimits } from "../src/registry/rate-limits.ts";
import { releaseOf, World } from "../test/ledger/world.ts";
import { answeredAttempt, servePairs } from "./pairs.ts";

const directory = process.env["DIRECTORY"] ?? "";
const config = loadConfig({ env: process.env, cwd: directory, flags: { dataDir: directory } });
const jobs = jobsOn(createLog("error"));
const store = await openStore(config, { clock: undefined, jobs, formats: FORMATS });
const world = new World(store.ledger);
const release = releaseOf();
await world.publish();
const keys = await Promise.all(
  Array.from({ length: Number(process.env["ORGANIZATIONS"] ?? 1) }, async () =>
    world.key(await world.organization(1_000_000)),
  ),
);
type Key = (typeof keys)[number];

/**
 * Sets limits that are never reached on this many subjects: first the key, then its organization, its model, and both.
 */
async function limitedKey(subjects: number): Promise<Key> {
  const key = await world.key(await world.organization(1_000_000));
  const limits = { requestsPerMinute: 10_000_000, tokensPerMinute: 1_000_000_000, concurrent: 1_000_000 };
  const { organizationId, keyId } = key;
  const { model } = release;
  const places = [
    { keyId, model: "" },
    { keyId: "", model: "" },
    { keyId: "", model },
    { keyId, model },
  ];
  for (const place of places.slice(0, subjects))
    await setRateLimits(
      store.ledger,
      { organizationId, ...place, limits, by: "operator" },
      { defaults: rateDefaultsOf(config.limits), actor: byItself("bench") },
    );
  return key;
}

/** An organization's cost depends on where its rows are in the store: each run takes the next of this many. */
const ALIKE = 6;
const limited = new Map<number, Promise<Key[]>>();
let runs = 0;
async function nextLimited(subjects: number): Promise<Key[]> {
  const made =
    limited.get(subjects) ?? Promise.all(Array.from({ length: ALIKE }, () => limitedKey(subjects)));
  limited.set(subjects, made);
  const alike = await made;
  runs += 1;
  return alike.slice(Math.floor(runs / 2) % ALIKE).slice(0, 1);
}

/** The settlement of an ordinary answer: one attempt, no caller's key. */
const settlementOf = (key: Key, requestId: string): Settlement => ({
  organizationId: key.organizationId,
  requestId,
  releaseDigest: release.digest,
  evidence: "provider_usage",
  usage: { promptTokens: 40, completionTokens: 150, cachedTokens: 0, reasoningTokens: 0 },
  charge: nanoUsd(10_000_000n),
  variance: nanoUsd(0n),
  minimumApplied: false,
  finishReason: "stop",
  status: 200,
  attempts: [answeredAttempt(release)],
  firstPartMs: 3,
  totalMs: 3,
  answer: null,
});

async function pair(key: Key): Promise<void> {
  const admission = world.admission(key, { hold: 0.02, release });
  const { kind } = await store.ledger.admit(admission);
  if (kind !== "admitted") throw new Error(`an admission ended ${kind}`);
  const settled = await store.ledger.settle(settlementOf(key, admission.requestId));
  if (settled.kind !== "done") throw new Error("a settlement found its request gone");
}

servePairs(async (asked) => {
  const subjects = asked.get("limited");
  const of =
    subjects === null
      ? keys.slice(0, Number(asked.get("organizations") ?? 1))
      : await nextLimited(Number(subjects));
  return async () => {
    const key = of[Math.floor(Math.random() * of.length)];
    if (key === undefined) throw new Error("no organization");
    await pair(key);
  };
});
