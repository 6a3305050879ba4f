// Publication: verify, store, serve (interfaces.md §4, hardening S33). The store here is a few maps: the rule
// about versions belongs to the registry and is tested there.
import { byItself } from "../domain/actor.ts";
import { describe, expect, test } from "bun:test";
import type { Release } from "../domain/release.ts";
import { Health } from "./health.ts";
import { parseManifest } from "./manifest.ts";
import { Publisher, type ReleaseStore } from "./publish.ts";
import {
  generateReleaseKey,
  readReleaseKey,
  readTrustedKeys,
  type ReleaseKey,
  type TrustedKeys,
} from "./release-key.ts";
import { RouteTable } from "./route-table.ts";
import { signRelease } from "./signature.ts";

const NOW_MS = Date.parse("2026-06-01");
const DAY_MS = 86_400_000;
const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
const SEEKER = { organizationId: "org_a", scope: "standard" } as const;

function storeOf(): ReleaseStore & {
  kept: Map<string, { release: Release; jws: string }>;
  /** The number of releases in each reply of the store. */
  answers: number[];
} {
  const answers: number[] = [];
  const kept = new Map<string, { release: Release; jws: string }>();
  const off = new Set<string>();
  const switchOf = (route: string) => ({
    route,
    highestVersion: kept.get(route)?.release.version ?? 0,
    disabled: off.has(route),
    reason: null,
    sinceMs: 0,
  });
  return {
    kept,
    answers,
    publishRelease: async (published) => {
      const before = kept.get(published.release.route)?.release;
      if (before !== undefined && before.version >= published.release.version)
        return before.digest === published.release.digest
          ? { kind: "repeated" }
          : { kind: "rolled_back", highest: before.version };
      kept.set(published.release.route, published);
      return { kind: "published" };
    },
    releases: async (routes = [...kept.keys()]) => {
      const found = [...kept].filter(([route]) => routes.includes(route)).map(([, published]) => published);
      answers.push(found.length);
      const releases = found.map((published) => ({ ...published, publishedAtMs: 0, coveredSinceMs: 0 }));
      return { releases, damaged: [] };
    },
    routes: async () =>
      [...kept].map(([route, { release }]) => ({ ...switchOf(route), digest: release.digest })),
    setRouteDisabled: async (route, disabled) => {
      if (!kept.has(route)) return null;
      if (disabled) off.add(route);
      else off.delete(route);
      return switchOf(route);
    },
  };
}

const manifest = (version: number, model = "m") =>
  parseManifest({
    model,
    provider: "a",
    upstream_model: "u",
    region: "r",
    version,
    tier: "standard",
    context_window: 1000,
    max_output_tokens: 100,
    default_output_tokens: 100,
    pricing: { currency: "USD", input_per_million: "1", output_per_million: "1", request_minimum: "0" },
  });

async function keyPair(): Promise<{ key: ReleaseKey; trusted: TrustedKeys }> {
  const { privateJwk, publicJwk } = await generateReleaseKey();
  return { key: await readReleaseKey(privateJwk), trusted: await readTrustedKeys([publicJwk]) };
}

const sign = (version: number, key: ReleaseKey, expiresInMs = DAY_MS): Promise<string> =>
  signRelease(manifest(version), key, { expiresInMs, nowMs: NOW_MS });

/** The provider named in the manifest. */
const SERVED = { provider: "a", intervalMs: 1000, openAfterFailures: 2, halfOpenAfterMs: 100, probe: null };

function publisherOf(trusted: TrustedKeys, store = storeOf()) {
  const routeTable = new RouteTable({ clock, health: new Health(clock, [SERVED]) });
  const told: unknown[] = [];
  const unknownTerms = (error: unknown): void => void told.push(error);
  const publisher = new Publisher({ store, routeTable, trusted, clock, unknownTerms });
  return { store, routeTable, publisher, told };
}

describe("publication", () => {
  test("only releases newly published by another gateway are read and verified again", async () => {
    const { key, trusted } = await keyPair();
    const { publisher: elsewhere, store } = publisherOf(trusted);
    const put = async (version: number, model: string): Promise<void> => {
      const jws = await signRelease(manifest(version, model), key, { expiresInMs: DAY_MS, nowMs: NOW_MS });
      expect(await elsewhere.publish(jws, byItself("t"))).toMatchObject({ kind: "published" });
    };
    for (const model of ["m1", "m2", "m3"]) await put(1, model);
    const { publisher, routeTable } = publisherOf(trusted, store);
    await publisher.load();
    await put(2, "m2");
    await put(1, "m4");
    await publisher.load();
    await publisher.load();
    expect(store.answers).toEqual([3, 2]);
    const serving = ["m1", "m2", "m3", "m4"].map((model) => routeTable.candidates(model, SEEKER)[0]?.version);
    expect(serving).toEqual([1, 2, 1, 1]);
  });

  test("a release with unknown terms from a newer program closes its route and says so", async () => {
    const { key, trusted } = await keyPair();
    const { store, publisher, routeTable, told } = publisherOf(trusted);
    const newer = { ...manifest(2), requires_novelty: true };
    const jws = await signRelease(newer, key, { expiresInMs: DAY_MS, nowMs: NOW_MS });
    await publisher.publish(await sign(1, key), byItself("t"));
    const [published] = store.kept.values();
    if (published === undefined) throw new Error("nothing was published");
    store.kept.set("m@a/r", { jws, release: { ...published.release, version: 2, digest: "other" } });
    await publisher.load();
    expect(routeTable.route("m@a/r")).toMatchObject({ state: "stale", reason: "unknown_terms" });
    expect(routeTable.candidates("m", SEEKER)).toEqual([]);
    expect(told.map(String)).toEqual([
      "ReleaseError: m@a/r: requires_novelty: is not a field of a release manifest",
    ]);
    expect(await publisher.publish(jws, byItself("t"))).toMatchObject({ kind: "refused" });
  });

  test("a publication or switch during a read of the store is not undone by it", async () => {
    const { key, trusted } = await keyPair();
    const { publisher, routeTable, store } = publisherOf(trusted);
    await publisher.publish(await sign(1, key), byItself("t"));
    const next = await sign(2, key);
    const routes = store.routes.bind(store);
    const meanwhile = [
      () => publisher.publish(next, byItself("t")),
      () => publisher.setDisabled({ route: "m@a/r", disabled: true, reason: null }, byItself("t")),
    ];
    store.routes = async () => {
      const read = await routes();
      await meanwhile.shift()?.();
      return read;
    };
    await publisher.load();
    expect(routeTable.route("m@a/r")).toMatchObject({ state: "disabled", release: { version: 2 } });
  });

  test("a signed release is served at once; publishing the same one again changes nothing", async () => {
    const { key, trusted } = await keyPair();
    const { publisher, routeTable } = publisherOf(trusted);
    const jws = await sign(1, key);
    expect(await publisher.publish(jws, byItself("t"))).toMatchObject({ kind: "published" });
    expect(await publisher.publish(jws, byItself("t"))).toMatchObject({ kind: "repeated" });
    expect(routeTable.candidates("m", SEEKER)).toHaveLength(1);
  });

  test("a stranger's, a tampered, an expired and a rolled-back release are refused and change nothing", async () => {
    const { key, trusted } = await keyPair();
    const { publisher, routeTable, store } = publisherOf(trusted);
    await publisher.publish(await sign(2, key), byItself("t"));
    const jws = await sign(3, key);
    const [head, body, signature] = jws.split(".");
    const changed = Buffer.from(body ?? "", "base64url")
      .toString()
      .replace('"input_per_million":"1"', '"input_per_million":"0"');
    const refused = [
      await sign(3, (await keyPair()).key),
      `${head}.${Buffer.from(changed).toString("base64url")}.${signature}`,
      await sign(3, key, -1000),
      await sign(1, key),
      "not.a.jws",
    ];
    for (const one of refused)
      expect(await publisher.publish(one, byItself("t"))).toMatchObject({ kind: "refused" });
    expect(routeTable.candidates("m", SEEKER)[0]?.version).toBe(2);
    expect(store.kept.size).toBe(1);
  });

  test("at startup every signature is verified again: a key no longer trusted closes its routes", async () => {
    const { key, trusted } = await keyPair();
    const { publisher, store } = publisherOf(trusted);
    await publisher.publish(await sign(1, key), byItself("t"));
    const again = publisherOf((await keyPair()).trusted, store);
    await again.publisher.load();
    expect(again.routeTable.candidates("m", SEEKER)).toHaveLength(0);
    expect(again.routeTable.closedReason("m", SEEKER).code).toBe("route_release_stale");
  });

  test("a switch survives a restart", async () => {
    const { key, trusted } = await keyPair();
    const { publisher, store } = publisherOf(trusted);
    await publisher.publish(await sign(1, key), byItself("t"));
    expect(await publisher.setDisabled({ route: "m@a/r", disabled: true, reason: null }, byItself("t"))).toBe(
      true,
    );
    const again = publisherOf(trusted, store);
    await again.publisher.load();
    expect(again.routeTable.closedReason("m", SEEKER).code).toBe("route_disabled");
    expect(await publisher.setDisabled({ route: "nope", disabled: true, reason: null }, byItself("t"))).toBe(
      false,
    );
  });
});
