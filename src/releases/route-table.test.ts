// Which routes are open: trial order, states, circuits, probes (specification 1, interfaces.md §4).
import { describe, expect, test } from "bun:test";
import type { Clock } from "../lib/clock.ts";
import { freezeRelease } from "../domain/freeze-release.ts";
import { Health, type HealthTarget } from "./health.ts";
import { type ManifestInput, parseManifest } from "./manifest.ts";
import { RouteTable } from "./route-table.ts";
import type { Release } from "../domain/release.ts";

const EXPIRY_MS = 1_000_000;
/** The caller, in tests where it does not matter. */
const ORG = "org_a";

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

function tableOf(
  releases: readonly Release[],
  also: { targets?: HealthTarget[]; random?: () => number } = {},
) {
  const clock = clockAt();
  const health = new Health(clock, also.targets ?? [target("a"), target("b"), target("c")]);
  const routeTable = new RouteTable({ clock, health, ...(also.random && { random: also.random }) });
  for (const one of releases) routeTable.put(one);
  const order = (organizationId = ORG): string =>
    routeTable
      .candidates("m", { organizationId, scope: "standard" })
      .map(({ provider }) => provider)
      .join(" ");
  return { clock, health, routeTable, order };
}

describe("the order in which routes are tried", () => {
  test("lower priority first", () => {
    const { order } = tableOf([
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
    const { order } = tableOf(routes, { random });
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
    const { routeTable, health, clock } = tableOf([one]);
    for (const cause of ["server", "server"] as const) health.report(one, ORG, cause);
    expect(routeTable.model("m")?.state).toBe("unhealthy");
    clock.advance(EXPIRY_MS);
    expect(routeTable.model("m")?.state).toBe("stale");
    routeTable.setDisabled({ route: one.route, disabled: true, reason: "maintenance", sinceMs: 0 });
    expect(routeTable.route(one.route)).toMatchObject({ state: "disabled", reason: "maintenance" });
    expect(routeTable.closedReason("m", { scope: "standard" }).code).toBe("route_disabled");
  });

  test("an expiry closes a route to the millisecond", () => {
    const { routeTable, clock, order } = tableOf([release()]);
    clock.advance(EXPIRY_MS - 1);
    expect(order()).toBe("a");
    clock.advance(1);
    expect(order()).toBe("");
    expect(routeTable.closedReason("m", { scope: "standard" }).code).toBe("route_release_stale");
  });

  test("the model has the state nearest to live", () => {
    const { routeTable, health } = tableOf([release(), release({ provider: "b" })]);
    routeTable.setDisabled({ route: "m@a/r", disabled: true, reason: null, sinceMs: 0 });
    for (const cause of ["server", "server"] as const) health.report(release({ provider: "b" }), ORG, cause);
    expect(routeTable.closedReason("m", { scope: "standard" }).code).toBe("route_unhealthy");
  });

  test("an unknown model is not found, whatever else is closed", () => {
    expect(tableOf([release()]).routeTable.closedReason("nope", { scope: "standard" }).code).toBe(
      "model_not_found",
    );
  });

  test("an older release never replaces a newer one; an untrusted one is stale", () => {
    const { routeTable, order } = tableOf([release({ version: 3 }), release({ version: 2 })]);
    expect(routeTable.highestVersion("m@a/r")).toBe(3);
    expect(order()).toBe("a");
    routeTable.load({
      releases: [{ release: release({ version: 3 }), fault: "untrusted_key", coveredSinceMs: 0 }],
      switches: [],
    });
    expect(routeTable.model("m")?.routes[0]).toMatchObject({ state: "stale", reason: "untrusted_key" });
  });
});

describe("circuits", () => {
  test("opens after consecutive failures, lets one trial through, closes when it succeeds", () => {
    const one = release();
    const { health, clock, order } = tableOf([one]);
    health.report(one, ORG, "server");
    health.report(one, ORG, null);
    health.report(one, ORG, "timeout");
    expect(order()).toBe("a");
    health.report(one, ORG, "broken");
    expect(order()).toBe("");
    clock.advance(100);
    expect(order()).toBe("a");
    expect(order()).toBe(""); // the trial is out
    health.report(one, ORG, null);
    expect(order()).toBe("a");
  });

  test("a failed trial keeps it open for another period", () => {
    const one = release();
    const { health, clock, order } = tableOf([one]);
    for (const cause of ["server", "server"] as const) health.report(one, ORG, cause);
    clock.advance(100);
    expect(order()).toBe("a");
    health.report(one, ORG, "server");
    clock.advance(99);
    expect(order()).toBe("");
    clock.advance(1);
    expect(order()).toBe("a");
  });

  test("a quote does not use the trial", () => {
    const one = release();
    const { health, clock, routeTable, order } = tableOf([one]);
    for (const cause of ["server", "server"] as const) health.report(one, ORG, cause);
    clock.advance(100);
    for (let n = 0; n < 3; n += 1)
      expect(routeTable.open("m", { organizationId: ORG, scope: "standard" })).toHaveLength(1);
    expect(order()).toBe("a");
  });

  test("one organization's failures open it for that organization; the first failure of another, for all", () => {
    const one = release();
    const { health, clock, order } = tableOf([one]);
    for (const cause of ["server", "timeout"] as const) health.report(one, "org_a", cause);
    expect([order("org_a"), order("org_b")]).toEqual(["", "a"]);
    clock.advance(100);
    for (let n = 0; n < 3; n += 1) expect(order("org_b")).toBe("a"); // none of these calls is the trial
    expect([order("org_a"), order("org_a")]).toEqual(["a", ""]);
    health.report(one, "org_b", "server");
    expect([order("org_a"), order("org_b")]).toEqual(["", ""]);
    clock.advance(100);
    expect([order("org_b"), order("org_a")]).toEqual(["a", ""]);
    health.report(one, "org_b", null);
    expect([order("org_a"), order("org_b")]).toEqual(["a", "a"]);
  });

  test("another organization's successful call closes it for the first as well", () => {
    const one = release();
    const { health, order } = tableOf([one]);
    for (const cause of ["server", "server"] as const) health.report(one, "org_a", cause);
    health.report(one, "org_b", null);
    expect(order("org_a")).toBe("a");
  });

  test.each([
    "rate_limited",
    "rejected",
    "aborted",
    "context_length",
    "content_filter",
    "deadline",
    "no_answer",
  ] as const)("%s does not count against a route", (cause) => {
    const one = release();
    const { health, order } = tableOf([one]);
    for (let n = 0; n < 10; n += 1) health.report(one, ORG, cause);
    expect(order()).toBe("a");
  });

  test("a refused account closes every route of the provider at once, and no other's", () => {
    const { health, order } = tableOf([release(), release({ provider: "b" })]);
    health.report(release(), ORG, "account");
    expect([order(), order("org_b")]).toEqual(["b", "b"]);
  });
});

describe("probes", () => {
  test("a probe that could not be sent changes nothing", async () => {
    let probe = (): Promise<boolean> => Promise.resolve(false);
    const { health, order } = tableOf([release()], { targets: [target("a", { probe: () => probe() })] });
    expect([await health.probe("a"), health.lastProbe("a"), order()]).toEqual([null, null, "a"]);
    probe = () => Promise.reject(new Error("down"));
    expect([await health.probe("a"), order()]).toEqual([false, ""]);
    probe = () => Promise.resolve(false);
    expect([await health.probe("a"), order()]).toEqual([null, ""]);
  });

  test("a failing probe closes the provider's routes, a good one opens them", async () => {
    let well = false;
    const { health, order } = tableOf([release()], {
      targets: [
        target("a", {
          probe: async () => {
            if (!well) throw new Error("down");
            return true;
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
    const { health, clock, order } = tableOf([one], {
      targets: [
        target("a", {
          probe: async () => {
            throw new Error("down");
          },
        }),
      ],
    });
    clock.advance(10);
    health.report(one, ORG, null);
    await health.probe("a");
    expect(order()).toBe("a");
  });
});

describe("since when a state has held", () => {
  const since = ({ routeTable, clock }: ReturnType<typeof tableOf>) => {
    const startMs = clock.nowMs();
    return () => {
      const { state, reason, sinceMs } = routeTable.route("m@a/r") ?? {
        state: null,
        reason: null,
        sinceMs: null,
      };
      return [state, reason, sinceMs === null ? null : sinceMs - startMs];
    };
  };

  test("a circuit: since it opened, whatever its trials' results; live again since it closed", () => {
    const one = release();
    const made = tableOf([one]);
    const { health, clock } = made;
    const now = since(made);
    expect(now()).toEqual(["live", null, 0]);
    clock.advance(10);
    health.report(one, ORG, "server");
    clock.advance(10);
    expect(now()).toEqual(["live", null, 0]);
    health.report(one, ORG, "server");
    for (const trial of [1, 2]) {
      clock.advance(100 * trial);
      expect(made.order()).toBe("a");
      health.report(one, ORG, "server");
      expect(now()).toEqual(["unhealthy", "circuit_open", 20]);
    }
    clock.advance(180);
    health.report(one, ORG, null);
    clock.advance(1000);
    expect(now()).toEqual(["live", null, 500]);
  });

  test("an account, a probe, a breaker: the same", async () => {
    let well = false;
    const probe = async (): Promise<boolean> => {
      if (!well) throw new Error("down");
      return true;
    };
    const one = release();
    const made = tableOf([one], { targets: [target("a", { probe })] });
    const { health, clock } = made;
    const now = since(made);
    clock.advance(10);
    health.report(one, ORG, "account");
    clock.advance(10);
    expect(now()).toEqual(["unhealthy", "account_refused", 10]);
    health.report(one, ORG, null);
    expect(now()).toEqual(["live", null, 20]);
    await health.probe("a"); // the answered call outweighs it
    for (let probes = 0; probes < 3; probes++) {
      clock.advance(10);
      await health.probe("a");
      expect(now()).toEqual(["unhealthy", "probe_failing", 30]);
    }
    well = true;
    clock.advance(50);
    await health.probe("a");
    expect(now()).toEqual(["live", null, 100]);
    health.holdOpen(new Map([["a", clock.nowMs() - 7]]));
    clock.advance(100);
    expect(now()).toEqual(["unhealthy", "opened_by_hand", 93]);
    health.holdOpen(new Map());
    expect(now()).toEqual(["live", null, 200]);
  });

  test("the switch, the expiry, a release that came after it, and one that came before", () => {
    const made = tableOf([release()]);
    const { routeTable, clock } = made;
    const startMs = clock.nowMs();
    const now = since(made);
    routeTable.setDisabled({ route: "m@a/r", disabled: true, reason: "why", sinceMs: startMs + 5 });
    clock.advance(10);
    expect(now()).toEqual(["disabled", "why", 5]);
    routeTable.setDisabled({ route: "m@a/r", disabled: false, reason: null, sinceMs: startMs + 10 });
    expect(now()).toEqual(["live", null, 10]);
    routeTable.put(release({ version: 2 }));
    expect(now()).toEqual(["live", null, 10]);
    clock.advance(EXPIRY_MS - clock.nowMs() + 50);
    expect(now()).toEqual(["stale", "expired", EXPIRY_MS - startMs]);
    routeTable.put({ ...release({ version: 3 }), expiresAtMs: EXPIRY_MS * 2 });
    expect(now()).toEqual(["live", null, clock.nowMs() - startMs]);
  });
});
