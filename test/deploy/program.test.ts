// What `npm run build` makes beside this machine's executable: the bill of materials, and Bun for other machines.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { billOfMaterials } from "../../scripts/sbom.ts";
import { assertIntegrity, TARGETS, targetOf } from "../../scripts/targets.ts";
import schema from "./schemas/cyclonedx-1.6.json";

const root = join(import.meta.dir, "../..");
const TERMS = { also: ["@scalar/api-reference"], bun: "@oven/bun-linux-x64" };

interface Bill {
  serialNumber: string;
  components: {
    "bom-ref": string;
    group?: string;
    name: string;
    version: string;
    purl: string;
    licenses?: object[];
    hashes?: { alg: string; content: string }[];
  }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}
const bill = (terms = TERMS): Promise<Bill> => billOfMaterials(root, terms) as Promise<Bill>;

test("the bill of materials is a CycloneDX document, and the same each time", async () => {
  const document = await bill();
  const checked = z.fromJSONSchema(schema as never);
  expect(checked.safeParse(document).error?.issues ?? []).toEqual([]);
  const broken = structuredClone(document) as { components: { name?: string }[] };
  delete broken.components[0]?.name;
  expect(checked.safeParse(broken).success).toBe(false);
  expect(await bill()).toEqual(document);
  expect((await bill({ ...TERMS, bun: "@oven/bun-darwin-aarch64" })).serialNumber).not.toBe(
    document.serialNumber,
  );
});

test("it lists what the product needs, from the lock file, and no tool", async () => {
  const { components, dependencies } = await bill();
  const purls = components.map(({ purl }) => purl.replace(/@[^@]+$/, ""));
  for (const name of [
    "hono",
    "pg",
    "react-dom",
    "%40better-auth/core",
    "%40oven/bun-linux-x64",
    "%40scalar/api-reference",
  ])
    expect(purls).toContain(`pkg:npm/${name}`);
  for (const name of ["typescript", "playwright-core", "openai", "%40oven/bun-darwin-aarch64"])
    expect(purls).not.toContain(`pkg:npm/${name}`);
  const { packages } = (await Bun.file(join(root, "package-lock.json")).json()) as {
    packages: Record<string, { version: string; integrity?: string }>;
  };
  for (const { "bom-ref": reference, version, hashes } of components) {
    const locked = packages[reference.slice(reference.indexOf("#") + 1)];
    const digest = Buffer.from(locked?.integrity?.split("-")[1] ?? "", "base64").toString("hex");
    expect({ reference, version, digest: hashes?.[0]?.content ?? "" }).toEqual({
      reference,
      version: locked?.version ?? "none",
      digest,
    });
  }
  const references = new Set(components.map(({ "bom-ref": reference }) => reference));
  expect(references.size).toBe(components.length);
  expect(dependencies).toHaveLength(components.length + 1);
  for (const { dependsOn } of dependencies)
    for (const reference of dependsOn) expect(references).toContain(reference);
});

test("Bun's program for each machine is pinned by the lock file, and another file is refused", async () => {
  const { packages } = (await Bun.file(join(root, "package-lock.json")).json()) as {
    packages: Record<string, { version: string; integrity?: string }>;
  };
  for (const target of Object.values(TARGETS))
    expect(packages[`node_modules/${target.package}`]).toMatchObject({
      version: Bun.version,
      integrity: expect.stringContaining("sha512-"),
    });
  expect(() => targetOf("windows-x64")).toThrow("there are linux-x64, linux-arm64, darwin-arm64, darwin-x64");
  const folder = mkdtempSync(join(tmpdir(), "tollgate-pinned-"));
  try {
    const file = join(folder, "bun.tgz");
    writeFileSync(file, "abc");
    const digest = new Bun.CryptoHasher("sha512").update("abc").digest("base64");
    await assertIntegrity(file, `sha512-${digest}`);
    writeFileSync(file, "abd");
    expect(await assertIntegrity(file, `sha512-${digest}`).catch(String)).toContain("package-lock.json pins");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
