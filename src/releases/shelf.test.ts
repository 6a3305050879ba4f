// Which routes are open: order of trial, states, circuits, probes (specification 1, interfaces.md §4).
import { describe, expect, test } from "bun:test";
import type { Clock } from "../lib/clock.ts";
import { freezeRelease } from "./frozen-release.ts";
import { Health, type HealthTarget } from "./health.ts";
import { type ManifestInput, parseManifest } from "./manifest.ts";
import { Shelf } from "./shelf.ts";
import type { Release } from "../contract/release.ts";

const EXPIRY_MS = 1_000_000;

function clockAt(startMs = 0): Clock & { advance(ms: number): void } {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

const target = (provider: string, also: Partial<HealthTarget> = {}): HealthTarget => ({
  provider,
  intervalMs: 1000,
  openAfterFailures: 2,
  halfOpenAfterMs: 100,
  probe: null,
  ...also,
});

function release(also: Partial<ManifestInput> = {}): Release {
  const manifest = parseManifest({
    model: "m",
    provider: "a",
    upstream_model: "u",
    region: "r",
    version: 1,
    tier: "standard",
    context_window: 1000,
    max_output_tokens: 100,
    default_output_tokens: 100,
    pricing: { currency: "USD", input_per_million: "1", output_per_million: "1", request_minimum: "0" },
    ...also,
  });
  const digest = `${manifest.route} ${manifest.version}`;
  return freezeRelease(manifest, { digest, signedBy: "k", issuedAtMs: 0, expiresAtMs: EXPIRY_MS });
}

function shelfOf(
  releases: readonly Release[],
  also: { targets?: HealthTarget[]; random?: () => number } = {},
) {
  const clock = clockAt();
  const health = new Health(clock, also.targets ?? [target("a"), target("b"), target("c")]);
  const shelf = new Shelf({ clock, health, ...(also.random && { random: also.random }) });
  for (const one of releases) shelf.put(one);
  const order = (): string =>
    shelf
      .candidates("m")
      .map(({ provider }) => provider)
      .join(" ");
  return { clock, health, shelf, order };
}

describe("the order of trial", () => {
  test("lower priority first", () => {
    const { order } = shelfOf([
      release({ provider: "b", priority: 2 }),
      release({ provider: "a", priority: 1 }),
    ]);
    expect(order()).toBe("a b");
  });

  test("equal priorities by weight, each route's share in the long run", () => {
    const counts: Record<string, number> = { a: 0, b: 0 };
    let state = 1;
    const random = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    const routes = [release({ provider: "a", weight: 300 }), release({ provider: "b", weight: 100 })];
    const { order } = shelfOf(routes, { random });
    for (let n = 0; n < 4000; n += 1) {
      const [first = "?"] = order().split(" ");
      counts[first] = (counts[first] ?? 0) + 1;
    }
    expect((counts["a"] ?? 0) / 4000).toBeCloseTo(0.75, 1);
  });
});

describe("states", () => {
  test("disabled beats stale beats unhealthy", () => {
    const one = release();
    const { shelf, health, clock } = shelfOf([one]);
    for (const cause of ["server", "server"] as const) health.report(one, cause);
    expect(shelf.model("m")?.state).toBe("unhealthy");
    clock.advance(EXPIRY_MS);
    expect(shelf.model("m")?.state).toBe("stale");
    shelf.setDisabled(one.route, true, "maintenance");
    expect(shelf.route(one.route)).toMatchObject({ state: "disabled", reason: "maintenance" });
    expect(shelf.closedReason("m").code).toBe("route_disabled");
  });

  test("an expiry closes to the millisecond", () => {
    const { shelf, clock, order } = shelfOf([release()]);
    clock.advance(EXPIRY_MS - 1);
    expect(order()).toBe("a");
    clock.advance(1);
    expect(order()).toBe("");
    expect(shelf.closedReason("m").code).toBe("route_release_stale");
  });

  test("the state nearest to live speaks for the model", () => {
    const { shelf, health } = shelfOf([release(), release({ provider: "b" })]);
    shelf.setDisabled("m@a/r", true, null);
    for (const cause of ["server", "server"] as const) health.report(release({ provider: "b" }), cause);
    expect(shelf.closedReason("m").code).toBe("route_unhealthy");
  });

  test("an unknown model is not found, whatever else is closed", () => {
    expect(shelfOf([release()]).shelf.closedReason("nope").code).toBe("model_not_found");
  });

  test("an older release never replaces a newer one; an untrusted one is stale", () => {
    const { shelf, order } = shelfOf([release({ version: 3 }), release({ version: 2 })]);
    expect(shelf.highestVersion("m@a/r")).toBe(3);
    expect(order()).toBe("a");
    shelf.load({ releases: [{ release: release({ version: 3 }), trusted: false }], switches: [] });
    expect(shelf.model("m")?.routes[0]).toMatchObject({ state: "stale", reason: "untrusted_key" });
  });
});

describe("circuits", () => {
  test("opens after failures in a row, lets one trial through, closes when it goes well", () => {
    const one = release();
    const { health, clock, order } = shelfOf([one]);
    health.report(one, "server");
    health.report(one, null);
    health.report(one, "timeout");
    expect(order()).toBe("a");
    health.report(one, "broken");
    expect(order()).toBe("");
    clock.advance(100);
    expect(order()).toBe("a");
    expect(order()).toBe(""); // the trial is out
    health.report(one, null);
    expect(order()).toBe("a");
  });

  test("a failed trial keeps it open for another while", () => {
    const one = release();
    const { health, clock, order } = shelfOf([one]);
    for (const cause of ["server", "server"] as const) health.report(one, cause);
    clock.advance(100);
    expect(order()).toBe("a");
    health.report(one, "server");
    clock.advance(99);
    expect(order()).toBe("");
    clock.advance(1);
    expect(order()).toBe("a");
  });

  test("a quote takes no trial", () => {
    const one = release();
    const { health, clock, shelf, order } = shelfOf([one]);
    for (const cause of ["server", "server"] as const) health.report(one, cause);
    clock.advance(100);
    for (let n = 0; n < 3; n += 1) expect(shelf.open("m")).toHaveLength(1);
    expect(order()).toBe("a");
  });

  test.each(["rate_limited", "rejected", "aborted", "context_length", "content_filter"] as const)(
    "%s says nothing against a route",
    (cause) => {
      const one = release();
      const { health, order } = shelfOf([one]);
      for (let n = 0; n < 10; n += 1) health.report(one, cause);
      expect(order()).toBe("a");
    },
  );

  test("a refused account closes every route of the provider at once, and no other's", () => {
    const { health, order } = shelfOf([release(), release({ provider: "b" })]);
    health.report(release(), "account");
    expect(order()).toBe("b");
  });
});

describe("probes", () => {
  test("a failing probe closes the provider's routes, a good one opens them", async () => {
    let well = false;
    const { health, order } = shelfOf([release()], {
      targets: [
        target("a", {
          probe: async () => {
            if (!well) throw new Error("down");
          },
        }),
      ],
    });
    await health.probe("a");
    expect(order()).toBe("");
    well = true;
    await health.probe("a");
    expect(order()).toBe("a");
  });

  test("a call that was answered since the last probe outranks a failing one", async () => {
    const one = release();
    const { health, clock, order } = shelfOf([one], {
      targets: [
        target("a", {
          probe: async () => {
            throw new Error("down");
          },
        }),
      ],
    });
    clock.advance(10);
    health.report(one, null);
    await health.probe("a");
    expect(order()).toBe("a");
  });
});
