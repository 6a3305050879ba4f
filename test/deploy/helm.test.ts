// The Helm chart: its values are what its schema says and what its templates use; where Helm is installed (`HELM` names it),
// what it renders, and what it says of values that cannot be.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { loadConfig } from "../../src/config/config.ts";
import { runToEnd } from "../support/program.ts";

const chart = join(import.meta.dir, "../../deploy/helm/tollgate");
const values = parse(readFileSync(join(chart, "values.yaml"), "utf8")) as Record<string, unknown>;
const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as never;
const templates = [...new Bun.Glob("templates/*").scanSync(chart)]
  .map((path) => readFileSync(join(chart, path), "utf8"))
  .join("\n");

const helm = process.env["HELM"] ?? Bun.which("helm");
if (helm === null)
  console.warn("helm.test.ts: nothing is rendered here: there is no helm; HELM=/path/to/helm names one");

test("the values are what their schema says, and one that is not is refused", () => {
  const checked = z.fromJSONSchema(schema);
  expect(checked.safeParse(values).error?.issues ?? []).toEqual([]);
  for (const wrong of [{ replicaCount: 0 }, { replicas: 2 }, { image: { tag: 1 } }, { dataSize: "1" }])
    expect({ wrong, accepted: checked.safeParse({ ...values, ...wrong }).success }).toEqual({
      wrong,
      accepted: false,
    });
});

test("templates use every value, and no other", () => {
  const used = new Set([...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path));
  const leaf = (path: string): unknown =>
    path
      .split(".")
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], values);
  for (const path of used)
    if (path !== "settings.limits")
      expect({ path, there: leaf(path) !== undefined }).toEqual({ path, there: true });
  const paths = Object.entries(values).flatMap(([name, value]) =>
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

const NEEDED = ["--set", "existingSecret=env", "--set", "dataKeySecret=key"];
const render = (...words: string[]) =>
  runToEnd(helm ?? "", ["template", "t", chart, "--kube-version", "1.31.0", ...words]);
interface Rendered {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: Record<string, never>;
  data: Record<string, string>;
}
async function rendered(...words: string[]): Promise<Rendered[]> {
  const { code, out, err } = await render(...NEEDED, ...words);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return parseAllDocuments(out).map((document) => document.toJS() as Rendered);
}

test.skipIf(helm === null)("Helm finds nothing wrong with it", async () => {
  expect(
    await runToEnd(helm ?? "", ["lint", "--strict", "--kube-version", "1.31.0", chart, ...NEEDED]),
  ).toMatchObject({
    code: 0,
  });
});

test.skipIf(helm === null)(
  "what it renders has no rights, waits for its streams, and migrates once",
  async () => {
    const all = await rendered(
      "--set-json",
      'settings={"limits":{"body_bytes":2048},"public_url":"https://g.example.com"}',
    );
    const of = (kind: string): Rendered => all.find((one) => one.kind === kind) as Rendered;
    expect(all.map(({ kind }) => kind).toSorted()).toEqual([
      "ConfigMap",
      "Deployment",
      "Job",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Service",
    ]);
    for (const kind of ["Deployment", "Job"]) {
      const pod = (of(kind).spec as unknown as { template: { spec: Record<string, unknown> } }).template.spec;
      expect(pod).toMatchObject({
        securityContext: { runAsNonRoot: true, runAsUser: 65532 },
        automountServiceAccountToken: false,
      });
      const containers = [pod["containers"], pod["initContainers"]].flat() as { securityContext: object }[];
      for (const { securityContext } of containers)
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
    }
    expect(of("Job").metadata.annotations).toMatchObject({ "helm.sh/hook": "pre-install,pre-upgrade" });
    const folder = mkdtempSync(join(tmpdir(), "tollgate-chart-"));
    try {
      writeFileSync(join(folder, "tollgate.yaml"), of("ConfigMap").data["tollgate.yaml"] ?? "");
      const { limits } = loadConfig({ env: {}, cwd: folder, flags: {} });
      expect([limits.bodyBytes, limits.stopGraceMs]).toEqual([2048, 600_000]);
      expect(of("Deployment").spec).toMatchObject({
        template: { spec: { terminationGracePeriodSeconds: 660 } },
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.skipIf(helm === null)(
  "what is switched on is there, and a scaler is alone with the number of replicas",
  async () => {
    const all = await rendered(
      "--set",
      "ingress.enabled=true,ingress.host=g.example.com,ingress.tlsSecret=tls,serviceMonitor.enabled=true,serviceMonitor.keySecret=mk",
      "--set",
      "autoscaling.enabled=true",
      "--set-string",
      "files.release\\.public\\.jwk=a key",
    );
    const kinds = all.map(({ kind }) => kind);
    for (const kind of ["Ingress", "ServiceMonitor", "HorizontalPodAutoscaler"])
      expect(kinds).toContain(kind);
    expect(all.find(({ kind }) => kind === "ConfigMap")?.data["release.public.jwk"]).toBe("a key");
    expect(all.find(({ kind }) => kind === "Deployment")?.spec).not.toHaveProperty("replicas");
  },
);

const CANNOT_BE: [string, string][] = [
  ["existingSecret=", "existingSecret is empty"],
  ["dataKeySecret=", "dataKeySecret is empty"],
  ["terminationGracePeriodSeconds=100", "set it to 630 at least"],
  ["stopGraceSeconds=60", "each rollout would cut streams"],
  ["ingress.enabled=true", "needs ingress.host"],
  ["serviceMonitor.enabled=true", "needs serviceMonitor.keySecret"],
  ["autoscaling.enabled=true,autoscaling.minReplicas=9", "is above autoscaling.maxReplicas (6)"],
  ["settings.limits.stop_grace_ms=1", "leave it out, and set that"],
  ["files.tollgate\\.yaml=x", "files may not have tollgate.yaml"],
  ["settings.data_dir=/x", "settings.data_dir is the chart's"],
  ["replicaCount=0", "minimum"],
  ["replicas=3", "'replicas' not allowed"],
];

test.skipIf(helm === null).each(CANNOT_BE)("%s is refused with words", async (set, said) => {
  const { code, err } = await render(...NEEDED, "--set", set);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(said) });
});
