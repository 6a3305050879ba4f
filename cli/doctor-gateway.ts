// What `doctor` finds out about the gateway that runs: where it is, whether it is ready, and whether it sells anything.
import { existsSync } from "node:fs";
import { everyPage } from "./every-page.ts";
import { type Finding, note, ok } from "./finding.ts";
import {
  type DoorOptions,
  findDoor,
  openGateway,
  type OperatorFile,
  operatorFile,
  passByProxy,
} from "./gateway.ts";

/** The settings that determine where a gateway would listen, and what it would serve. */
interface Configured {
  /** Where it would answer. */
  address: string;
  dataDir: string;
  /** Null: the embedded store in `dataDir`. */
  databaseUrl: string | null;
  /** Null: it signs the demo's releases itself. */
  trust: object | null;
  /** The configuration's own file, absolute; null where there is none. */
  file: string | null;
}

interface GatewayFindings {
  findings: Finding[];
  /** A gateway answers, ready or not. */
  runs: boolean;
}

export async function gatewayFindings(config: Configured, flags: DoorOptions): Promise<GatewayFindings> {
  const written = await operatorFile({ dataDir: config.dataDir }).catch(() => null);
  const { finding, place } = await foundGateway(config, flags, written);
  const ready = finding.state === "ok";
  const inUse = ready && written?.url === place ? await inUseFindings(written, config.file) : [];
  // A demo signs what it sells by itself.
  const sells = ready && config.trust !== null;
  const routes = sells ? await routesFinding({ ...flags, dataDir: config.dataDir }) : [];
  return { findings: [finding, ...inUse, ...routes], runs: place !== null };
}

/** A gateway reads its configuration once, at its start: whether what it works with is what is read here, as it is now. */
async function inUseFindings({ configuration }: OperatorFile, here: string | null): Promise<Finding[]> {
  if (configuration === undefined) return [];
  const { file, digest } = configuration;
  const check = "configuration in use";
  if (file !== here)
    return file !== null && !existsSync(file)
      ? [note(check, `the gateway runs with ${file}, which no longer exists`, PUT_BACK)]
      : [note(check, `the gateway runs with ${nameOf(file)}, not with ${nameOf(here)}`, NAME_IT)];
  if (file === null) return [];
  const { digestOfFile } = await import("../src/config/file-digest.ts");
  if (digestOfFile(file) === digest) return [ok(check, `${file}, unchanged since the gateway started`)];
  return [note(check, `${file} has changed since the gateway started`, RESTART)];
}

const nameOf = (file: string | null): string => file ?? "no file";
const RESTART = "Restart the gateway to apply it.";
const PUT_BACK = "Put it back before the next start; otherwise the gateway starts with defaults.";
const NAME_IT =
  "Use the same file for both: set --config FILE or TOLLGATE_CONFIG here, or at the next start.";

/** Nothing where no management key is known here: then nobody may ask. */
async function routesFinding(options: DoorOptions): Promise<Finding[]> {
  const door = await findDoor(options).catch(() => null);
  if (door === null) return [];
  const asked = await everyPage(openGateway(door).call, "GET /admin/v1/routes", {}).catch(() => null);
  if (asked === null) return [];
  const { data } = asked.value;
  if (data.length === 0) return [note("routes", "none: no model is served", PUBLISH)];
  const states = [...new Set(data.map(({ state }) => state))];
  const found = states
    .map((state) => `${data.filter((route) => route.state === state).length} ${state}`)
    .join(", ");
  return states.every((state) => state === "live")
    ? [ok("routes", found)]
    : [note("routes", found, "./tollgate route list")];
}

const PUBLISH = "Sign a release and publish it: docs/releases.md, From nothing to a served model.";

/**
 * Finds the gateway as every command does: by --url, by the file that it wrote into the data directory, and at the
 * address configured here. The port in this shell may differ from the gateway's. `place`: where it answers; null if
 * nowhere.
 */
async function foundGateway(
  { address, dataDir, databaseUrl }: Configured,
  { url }: DoorOptions,
  file: OperatorFile | null,
): Promise<{ finding: Finding; place: string | null }> {
  const places: [string | undefined, string][] = [
    [url ?? (process.env["TOLLGATE_URL"] || undefined), NAMED],
    [file?.url, "found through operator.json, as by other commands"],
    [address, "at the configured address"],
  ];
  for (const [place, how] of places) {
    const status = place === undefined ? null : await readiness(place);
    if (place === undefined || status === null) continue;
    if (how !== NAMED && databaseUrl === null && (await hasNoOwner(dataDir)))
      return {
        finding: note("gateway", `not running; the gateway at ${place} has another store`, OTHER_STORE),
        place: null,
      };
    const finding =
      status === 200
        ? ok("gateway", `running and ready at ${place}, ${how}`)
        : note("gateway", `running at ${place}, ${how}, but not ready (${status})`, NOT_READY);
    return { finding, place };
  }
  return { finding: await notFound(dataDir), place: null };
}

const NAMED = "named by --url or TOLLGATE_URL";
const OTHER_STORE =
  "If you meant that gateway, name its store as its start does: --data-dir, --config or DATABASE_URL.";

/** An embedded store that a gateway serves has an owner. */
async function hasNoOwner(dataDir: string): Promise<boolean> {
  const { directoryOwner, isDirectoryFree } = await import("../src/store/directory-lock.ts");
  return directoryOwner(dataDir) === null && isDirectoryFree(dataDir);
}

const NOT_READY = "It is draining, or cannot reach its store: see its log.";

/** Where no gateway answers: whether one has the data directory. */
async function notFound(dataDir: string): Promise<Finding> {
  const { directoryOwner } = await import("../src/store/directory-lock.ts");
  const owner = directoryOwner(dataDir);
  if (owner === null) return note("gateway", "not running", "Start it: ./tollgate serve");
  return {
    check: "gateway",
    state: "wrong",
    found: `process ${owner} holds ${dataDir} but does not answer`,
    next: "It is starting, or hangs: wait, check its log, or stop it. No other gateway can start there.",
  };
}

/** The status of `/readyz`; null where nobody listens, or another program: a gateway names each request. */
async function readiness(place: string): Promise<number | null> {
  try {
    const url = new URL("/readyz", place);
    passByProxy(url);
    const { status, headers } = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(1000) });
    return headers.get("x-request-id")?.startsWith("req_") === true ? status : null;
  } catch {
    return null; // nobody listens: that is the finding
  }
}
