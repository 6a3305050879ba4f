// `deploy/compose.yaml`: the published schema accepts it, what it mounts exists, and its times fit the gateway's
// settings.
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { loadConfig } from "../../src/config/config.ts";
import schema from "./schemas/compose-spec.json";

const folder = join(import.meta.dir, "../../deploy");
const text = readFileSync(join(folder, "compose.yaml"), "utf8");

interface Service {
  image: string;
  user?: string;
  read_only?: boolean;
  network_mode?: string;
  stop_grace_period?: string;
  ports?: string[];
  volumes?: string[];
  depends_on?: string[] | Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  logging?: { options: Record<string, string> };
}
const compose = parse(text) as { services: Record<string, Service>; volumes: Record<string, null> };
const { gateway, prometheus } = compose.services as { gateway: Service; prometheus: Service };

test("the Compose specification accepts it, and refuses a misspelt member", () => {
  const checked = z.fromJSONSchema(schema as never);
  expect(checked.safeParse(compose).error?.issues ?? []).toEqual([]);
  const misspelt = structuredClone(compose) as unknown as { services: { gateway: Record<string, unknown> } };
  misspelt.services.gateway["read-only"] = true;
  expect(checked.safeParse(misspelt).success).toBe(false);
});

test("what it mounts exists, what it depends on is a service with a health check, and images are pinned", () => {
  for (const [name, { image, volumes = [], depends_on: needs = [] }] of Object.entries(compose.services)) {
    expect({ name, image }).toEqual({ name, image: expect.stringMatching(/:\S*\d/) });
    for (const from of volumes.map((volume) => volume.slice(0, volume.indexOf(":")))) {
      const there = from.startsWith("./") ? existsSync(join(folder, from)) : from in compose.volumes;
      expect({ name, from, there }).toEqual({ name, from, there: true });
    }
    for (const [needed, { condition }] of Object.entries(Array.isArray(needs) ? {} : needs)) {
      expect(compose.services[needed]?.healthcheck?.test[0]).toBe("CMD");
      expect(condition).toBe("service_healthy");
    }
  }
});

test("no service's log fills the disk", () => {
  for (const [name, { logging }] of Object.entries(compose.services))
    expect([name, logging?.options]).toEqual([name, { "max-size": "20m", "max-file": "5" }]);
});

test("every secret that it needs has its line in env.example, and none has a value in the file", () => {
  const needed = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
  const lines = readFileSync(join(folder, "env.example"), "utf8").split("\n");
  expect(lines.filter((line) => /^\w+=/.test(line)).toSorted()).toEqual(
    [...needed].map((name) => `${name}=`).toSorted(),
  );
});

test("the gateway's settings are valid, and it is not killed before its streams have ended", () => {
  const none = mkdtempSync(join(tmpdir(), "tollgate-compose-"));
  try {
    const { limits } = loadConfig({
      env: {},
      cwd: none,
      flags: { config: join(folder, "tollgate/tollgate.yaml") },
    });
    expect(limits.stopGraceMs).toBeGreaterThanOrEqual(limits.requestTimeoutMs);
    expect(Number.parseInt(gateway.stop_grace_period ?? "", 10) * 1000).toBeGreaterThan(limits.stopGraceMs);
  } finally {
    rmSync(none, { recursive: true, force: true });
  }
});

test("the gateway has no privileges, every port is bound to this machine, and Prometheus connects from loopback", () => {
  expect(gateway).toMatchObject({ user: "65532:65532", read_only: true, cap_drop: ["ALL"] });
  for (const { ports = [] } of Object.values(compose.services))
    for (const port of ports) expect(port).toStartWith("127.0.0.1:");
  expect(prometheus.network_mode).toBe("service:gateway");
  const scraped = parse(readFileSync(join(folder, "prometheus/prometheus.yml"), "utf8")) as {
    rule_files: string[];
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  expect(scraped.scrape_configs[0]?.static_configs[0]?.targets).toEqual(["127.0.0.1:8080"]);
  const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes);
  const mounted = (inside: string): string =>
    mounts.find((mount) => mount.endsWith(`:${inside}:ro`)) ?? "nowhere";
  for (const file of scraped.rule_files) expect(mounted(file)).toBe(`./prometheus/alerts.yaml:${file}:ro`);
  const { providers } = parse(readFileSync(join(folder, "grafana/dashboards.yaml"), "utf8")) as {
    providers: { options: { path: string } }[];
  };
  const shown = `${providers[0]?.options.path}/tollgate.json`;
  expect(mounted(shown)).toBe(`./grafana/tollgate.json:${shown}:ro`);
  for (const name of readdirSync(join(folder, "grafana")).filter((file) => file.endsWith(".yaml")))
    expect(parse(readFileSync(join(folder, "grafana", name), "utf8"))).toMatchObject({ apiVersion: 1 });
});
