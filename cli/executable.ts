// The entry of the single executable (`npm run build`). Bun reads its limit of upstream connections before any code of
// ours runs, and leaves it at 256; what `./tollgate` sets for the project, this sets by starting the process over.
import { dlopen, ptr } from "bun:ffi";

const LIMIT = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const LIBRARIES = process.platform === "darwin" ? ["libSystem.B.dylib"] : ["libc.so.6", "libc.so"];

/** The same process with another environment (execve): the same id, the same open files. Returns only when refused. */
function startOver(env: Record<string, string | undefined>): void {
  const pairs = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${value}`,
  );
  const kept: Buffer[] = []; // until the call is over, whatever the collector thinks
  const text = (value: string): Buffer => {
    kept.push(Buffer.from(`${value}\0`));
    return kept.at(-1) as Buffer;
  };
  const list = (values: string[]): BigUint64Array =>
    new BigUint64Array([...values.map((value) => BigInt(ptr(text(value)))), 0n]);
  const [path, arguments_, environment] = [
    text(process.execPath),
    list([process.execPath, ...process.argv.slice(2)]),
    list(pairs),
  ];
  libc()?.execve(ptr(path), ptr(arguments_), ptr(environment));
}

/** Null on a system that has none of them: `doctor` says what the limit is there. */
function libc() {
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, { execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" } }).symbols;
    } catch {
      // The next one.
    }
  }
  return null;
}

if (process.env[LIMIT] === undefined) startOver({ ...process.env, [LIMIT]: "65336" });
await import("./tollgate.ts");
