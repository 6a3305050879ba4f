// The entry point of the single executable (`npm run build`). Bun reads its limit of upstream connections before any
// of our code runs; the default is 256. `./tollgate` sets it for the project; this file sets it by restarting the
// process.
import { dlopen, ptr } from "bun:ffi";

const LIMIT = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const LIBRARIES = process.platform === "darwin" ? ["libSystem.B.dylib"] : ["libc.so.6", "libc.so"];

/**
 * Restarts this process with another environment (execve), keeping the process id and the open files. Returns only on
 * failure.
 */
function startOver(env: Record<string, string | undefined>): void {
  const pairs = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${value}`,
  );
  const kept: Buffer[] = []; // keeps the buffers from being garbage-collected until the call is over
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

/** Null if the system has no such library: `doctor` then reports the limit that applies. */
function libc() {
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, { execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" } }).symbols;
    } catch {
      // Try the next one.
    }
  }
  return null;
}

if (process.env[LIMIT] === undefined) startOver({ ...process.env, [LIMIT]: "65336" });
await import("./tollgate.ts");
