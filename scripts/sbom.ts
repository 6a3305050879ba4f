// The bill of materials of the single executable, as a CycloneDX 1.6 document: each package of the lock file that the
// product needs, with version, licence, checksum and dependencies. The same lock file gives the same document.
import { createHash } from "node:crypto";
import { join } from "node:path";

interface Locked {
  name?: string;
  version?: string;
  license?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}
type Packages = Record<string, Locked>;

const PLATFORM = /^@oven\/bun-/;

/**
 * `also`: packages whose files are inside though only the build depends on them. `bun`: the package of Bun's program.
 */
export async function billOfMaterials(root: string, terms: { also: string[]; bun: string }): Promise<object> {
  const file = join(root, "package-lock.json");
  const { packages } = (await Bun.file(file).json()) as { packages: Packages };
  const own = packages[""] ?? {};
  const wanted = (name: string): boolean => !PLATFORM.test(name) || name === terms.bun;
  const needs = (path: string): string[] =>
    (path === "" ? [...Object.keys(own.dependencies ?? {}), ...terms.also] : needsOf(packages[path] ?? {}))
      .filter(wanted)
      .map((name) => placeOf(packages, path, name))
      .filter((found) => found !== null);
  const reached = new Set<string>([""]);
  for (const path of reached) for (const next of needs(path)) reached.add(next);
  const inside = [...reached].filter((path) => path !== "").toSorted();
  const reference = (path: string): string =>
    path === "" ? "tollgate" : `${purlOf(path, packages[path])}#${path}`;
  const seed = createHash("sha256")
    .update(JSON.stringify([terms, packages]))
    .digest("hex");
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(seed)}`,
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": "tollgate",
        name: "tollgate",
        version: own.version,
        licenses: [{ license: { id: own.license } }],
      },
    },
    components: inside.map((path) => componentOf(path, packages[path] ?? {}, reference(path))),
    dependencies: ["", ...inside].map((path) => ({
      ref: reference(path),
      dependsOn: [...new Set(needs(path).map(reference))].toSorted(),
    })),
  };
}

const needsOf = (entry: Locked): string[] => [
  ...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }),
  ...Object.keys(entry.peerDependencies ?? {}).filter(
    (name) => entry.peerDependenciesMeta?.[name]?.optional !== true,
  ),
];

/** The path at which a package at `from` finds `name`: in its own folder, or in one above it. Null if nowhere. */
function placeOf(packages: Packages, from: string, name: string): string | null {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const path = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (path in packages) return path;
    if (at === "") return null;
  }
}

const nameOf = (path: string, entry: Locked = {}): string =>
  entry.name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

const purlOf = (path: string, entry: Locked = {}): string =>
  `pkg:npm/${nameOf(path, entry).replace("@", "%40")}@${entry.version}`;

function componentOf(path: string, entry: Locked, reference: string): object {
  const [group, name] = nameOf(path, entry)
    .match(/^(@[^/]+)\/(.+)$/)
    ?.slice(1) ?? [undefined, nameOf(path, entry)];
  const licence = entry.license;
  return {
    type: "library",
    "bom-ref": reference,
    ...(group !== undefined && { group }),
    name,
    version: entry.version,
    purl: purlOf(path, entry),
    ...(licence !== undefined && {
      licenses: [/[ (]/.test(licence) ? { expression: licence } : { license: { id: licence } }],
    }),
    ...(entry.integrity !== undefined && { hashes: [hashOf(entry.integrity)] }),
  };
}

function hashOf(integrity: string): object {
  const [algorithm = "", digest = ""] = integrity.split("-", 2);
  return { alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") };
}

/** A name-based UUID (version 8) of these bytes. */
const uuidOf = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
