// Completes package-lock.json with the optional packages of other platforms. npm leaves out those that the registry
// in use does not have, and then `npm ci` refuses the lock file on every platform. Run it after each change of
// dependencies; it takes the path of a lock file other than the root's.

interface LockedPackage {
  version?: string;
  optionalDependencies?: Record<string, string>;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
}
interface Lock {
  packages: Record<string, LockedPackage>;
}

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openbsd", "openharmony", "win32", "wasm32"];
const PROCESSORS = ["arm64", "arm", "ia32", "x64", "ppc64", "riscv64", "s390x"];

const path = process.argv[2] ?? "package-lock.json";
const lock = (await Bun.file(path).json()) as Lock;
let added = 0;
for (const [at, parent] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const known = lock.packages[`node_modules/${name}`] ?? lock.packages[`${at}/node_modules/${name}`];
    if (known !== undefined || !/^\d/.test(version)) continue;
    const words = name.split(/[^a-z0-9]/);
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(parent.dev && { dev: true }),
      optional: true,
      os: SYSTEMS.filter((system) => words.includes(system)),
      cpu: PROCESSORS.filter((processor) => words.includes(processor)),
    };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
await Bun.write(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages of other platforms added to ${path}`);
