// The Helm chart: what it renders and what it says of contradictory values, read by `test/support/chart.ts`; if Helm
// is installed (`HELM` names it), it must agree.
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/config.ts";
import { Chart, ChartRefusal, merged, type Rendered, type Values } from "../support/chart.ts";
import { runToEnd } from "../support/program.ts";

setDefaultTimeout(60_000);

const chart = new Chart(join(import.meta.dir, "../../deploy/helm/tollgate"));
const folder = mkdtempSync(join(tmpdir(), "tollgate-chart-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const helm = process.env["HELM"] ?? Bun.which("helm");
if (helm === null)
  console.warn("helm.test.ts: Helm itself is not asked: there is none; HELM=/path/to/helm names one");

const NEEDED = { existingSecret: "env", dataKeySecret: "key" };
const ARGUMENTS = ["--kube-version", "1.31.0", "--values"];

/** Helm's output for these values together with the required ones. */
async function askHelm(values: Values, command = ["template", "t"]): ReturnType<typeof runToEnd> {
  const file = join(folder, "values.yaml");
  writeFileSync(file, JSON.stringify(merged(NEEDED, values)));
  return await runToEnd(helm ?? "", [...command, chart.folder, ...ARGUMENTS, file]);
}

test("the values match their schema", () => {
  expect(chart.schema.safeParse(chart.values).error?.issues ?? []).toEqual([]);
});

test("templates use every value, and no other", () => {
  const used = new Set([...chart.source.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path));
  const leaf = (path: string): unknown =>
    path
      .split(".")
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], chart.values);
  for (const path of used)
    if (!path.startsWith("settings."))
      expect({ path, there: leaf(path) !== undefined }).toEqual({ path, there: true });
  const paths = Object.entries(chart.values).flatMap(([name, value]) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !["settings", "files", "resources"].includes(name)
      ? Object.keys(value).map((key) => `${name}.${key}`)
      : [name],
  );
  const whole = (path: string): boolean => used.has(path) || used.has(path.split(".")[0] ?? "");
  expect(paths.filter((path) => !whole(path))).toEqual([]);
});

const USUAL: Values = {
  settings: { limits: { body_bytes: 2048 }, public_url: "https://g.example.com" },
};
const SWITCHED_ON: Values = {
  image: { digest: `sha256:${"0".repeat(64)}`, pullSecrets: [{ name: "registry" }] },
  ingress: {
    enabled: true,
    host: "g.example.com",
    className: "nginx",
    tlsSecret: "tls",
    annotations: { a: "b" },
  },
  serviceMonitor: { enabled: true, keySecret: "mk", labels: { release: "prometheus" } },
  autoscaling: { enabled: true },
  files: { "release.public.jwk": '{"kty":"OKP"}\n' },
  nodeSelector: { disk: "fast" },
  tolerations: [{ key: "gateways", operator: "Exists" }],
  affinity: { nodeAffinity: {} },
  podAnnotations: { "example.com/team": "gateways" },
};
/** Addresses that the network policy allows, or cannot judge. */
const REACHED: Values = {
  networkPolicy: {
    providerPorts: [443, 4318, 587],
    from: [{ podSelector: {} }],
    databaseTo: [{ ipBlock: { cidr: "10.0.0.0/8" } }],
  },
  settings: {
    mail: { host: "smtp.example.com", from: "a@example.com" },
    tracing: { endpoint: "http://collector:4318/v1" },
    providers: [
      { name: "a", kind: "openai", base_url: "https://api.example.com/v1" },
      { name: "b", kind: "ollama", base_url: "http://127.0.0.1:11434/v1" },
      { name: "c", kind: "vllm", base_url: "http://${VLLM_HOST}:8000/v1" },
      { name: "d", kind: "anthropic", api_key: "${KEY}" },
    ],
  },
};
const OPEN: Values = {
  networkPolicy: { enabled: false },
  podDisruptionBudget: { enabled: false },
  settings: { tracing: { endpoint: "http://collector:4318" } },
};

const of = (all: readonly Rendered[], kind: string): Rendered =>
  all.find((one) => one.kind === kind) as Rendered;
const kindsOf = (values: Values): string[] =>
  chart
    .render(merged(NEEDED, values))
    .map(({ kind }) => kind)
    .toSorted();
const ALWAYS = ["ConfigMap", "Deployment", "Job", "Service"];

test("what it renders has no privileges, waits for its streams, and migrates once", () => {
  const all = chart.render(merged(NEEDED, USUAL));
  expect(kindsOf(USUAL)).toEqual([...ALWAYS, "NetworkPolicy", "PodDisruptionBudget"].toSorted());
  for (const kind of ["Deployment", "Job"]) {
    const { spec: pod } = (of(all, kind).spec as unknown as { template: { spec: Values } }).template;
    expect(pod).toMatchObject({
      securityContext: { runAsNonRoot: true, runAsUser: 65532 },
      automountServiceAccountToken: false,
    });
    const containers = [pod["containers"], pod["initContainers"]].flat() as { securityContext: object }[];
    expect(containers).toHaveLength(2);
    for (const { securityContext } of containers)
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
  }
  expect(of(all, "Job").metadata.annotations).toMatchObject({ "helm.sh/hook": "pre-install,pre-upgrade" });
  writeFileSync(join(folder, "tollgate.yaml"), of(all, "ConfigMap").data["tollgate.yaml"] ?? "");
  const { limits } = loadConfig({ env: {}, cwd: folder, flags: {} });
  expect([limits.bodyBytes, limits.stopGraceMs]).toEqual([2048, 600_000]);
  expect(of(all, "Deployment").spec).toMatchObject({
    replicas: 2,
    template: { spec: { terminationGracePeriodSeconds: 660 } },
  });
});

test("what is switched on is there, and a scaler alone sets the number of replicas", () => {
  const all = chart.render(merged(NEEDED, SWITCHED_ON));
  const more = [
    "HorizontalPodAutoscaler",
    "Ingress",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "ServiceMonitor",
  ];
  expect(kindsOf(SWITCHED_ON)).toEqual([...ALWAYS, ...more].toSorted());
  expect(of(all, "ConfigMap").data["release.public.jwk"]).toBe('{"kty":"OKP"}\n');
  expect(of(all, "Deployment").spec).not.toHaveProperty("replicas");
  expect(of(all, "Ingress").spec).toMatchObject({ tls: [{ hosts: ["g.example.com"], secretName: "tls" }] });
  expect(kindsOf(OPEN)).toEqual(ALWAYS);
});

test("the network policy allows what the settings name", () => {
  const { spec } = of(chart.render(merged(NEEDED, REACHED)), "NetworkPolicy");
  const { egress } = spec as unknown as { egress: { ports: { port: number }[] }[] };
  expect(egress.map(({ ports }) => ports.map(({ port }) => port))).toEqual([
    [53, 53],
    [5432],
    [443, 4318, 587],
  ]);
});

const provider = (settings: Values): Values => ({
  settings: {
    providers: [
      { name: "a", kind: "bedrock" },
      { name: "b", kind: "vllm", ...settings },
    ],
  },
});
const CANNOT_BE: [Values, string][] = [
  [{ existingSecret: "" }, "existingSecret is empty"],
  [{ dataKeySecret: "" }, "dataKeySecret is empty"],
  [{ terminationGracePeriodSeconds: 100 }, "set it to 630 at least"],
  [{ stopGraceSeconds: 60 }, "each rollout would cut streams"],
  [{ settings: { limits: { request_timeout_ms: 601_000 } } }, "(settings.limits.request_timeout_ms, 601 s)"],
  [{ ingress: { enabled: true } }, "needs ingress.host"],
  [{ serviceMonitor: { enabled: true } }, "needs serviceMonitor.keySecret"],
  [{ autoscaling: { enabled: true, minReplicas: 9 } }, "(9) is above autoscaling.maxReplicas (6)"],
  [{ autoscaling: { enabled: true }, resources: { requests: null } }, "resources.requests.cpu"],
  [{ settings: { limits: { stop_grace_ms: 1 } } }, "leave it out, and set that"],
  [{ files: { "tollgate.yaml": "x" } }, "files may not have tollgate.yaml"],
  [{ files: { "keys/release.jwk": "x" } }, "files.keys/release.jwk cannot be"],
  [{ settings: { data_dir: "/x" } }, "settings.data_dir is the chart's"],
  [{ settings: { listen: { port: 80 } } }, "settings.listen is the chart's"],
  [{ settings: { database_url: "postgres://x" } }, "settings.database_url is DATABASE_URL of existingSecret"],
  [provider({ base_url: "http://vllm:8000/v1" }), "settings.providers[1].base_url goes to port 8000"],
  [provider({ base_url: "http://vllm/v1" }), "settings.providers[1].base_url goes to port 80,"],
  [provider({ role: { uri: "http://169.254.170.2/x" } }), "settings.providers[1].role.uri goes to port 80,"],
  [
    { settings: { tracing: { endpoint: "http://collector:4318" } } },
    "settings.tracing.endpoint goes to port 4318",
  ],
  [
    { settings: { tracing: { traces_endpoint: "https://t.example.com:4443/v1/traces" } } },
    "settings.tracing.traces_endpoint goes to port 4443",
  ],
  [{ settings: { mail: { host: "smtp.example.com" } } }, "settings.mail goes to port 587"],
  [{ settings: { mail: { host: "smtp.example.com", security: "tls" } } }, "settings.mail goes to port 465"],
  [{ settings: { mail: { host: "smtp.example.com", port: 2525 } } }, "settings.mail goes to port 2525"],
];

/** Refused by the schema, which Helm checks before any template. */
const NO_VALUES: [Values, string][] = [
  [{ replicaCount: 0 }, "replicaCount"],
  [{ replicas: 3 }, "replicas"],
  [{ image: { tag: 1 } }, "tag"],
  [{ image: { digest: "sha256:1" } }, "digest"],
  [{ dataSize: "1" }, "dataSize"],
  [{ networkPolicy: { providerPorts: [] } }, "providerPorts"],
];

describe("contradictory values", () => {
  test.each(CANNOT_BE)("%j is refused with an explanation", (values, said) => {
    const given = merged(NEEDED, values);
    expect(chart.schema.safeParse(merged(chart.values, given)).error?.issues ?? []).toEqual([]);
    const refused = (): Rendered[] => chart.render(given);
    expect(refused).toThrow(ChartRefusal);
    expect(refused).toThrow(said);
  });

  test.each(NO_VALUES)("%j is refused by the schema", (values, named) => {
    const { error } = chart.schema.safeParse(merged(chart.values, merged(NEEDED, values)));
    expect(JSON.stringify(error?.issues ?? [])).toContain(named);
  });
});

describe.skipIf(helm === null)("Helm", () => {
  test("finds nothing wrong with it", async () => {
    expect(await askHelm({}, ["lint", "--strict"])).toMatchObject({ code: 0 });
  });

  test("renders the same as the reader here", async () => {
    for (const values of [{}, USUAL, SWITCHED_ON, REACHED, OPEN]) {
      const { code, out, err } = await askHelm(values);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const documents = parseAllDocuments(out).map((document) => document.toJS() as Rendered);
      expect(comparable(documents)).toEqual(comparable(chart.render(merged(NEEDED, values))));
    }
  });

  test("refuses contradictions with the same words", async () => {
    for (const [values, said] of [...CANNOT_BE, ...NO_VALUES]) {
      const { code, err } = await askHelm(values);
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(said) });
    }
  });
});

/** In a fixed order; the settings as parsed, without the checksum of their text. */
const comparable = (documents: readonly Rendered[]): unknown[] =>
  documents
    .toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
    .map((one): unknown => JSON.parse(JSON.stringify(one).replaceAll(/[0-9a-f]{64}/g, ""), readSettings));

const readSettings = (name: string, value: unknown): unknown =>
  name === "tollgate.yaml" ? parse(String(value)) : value;
