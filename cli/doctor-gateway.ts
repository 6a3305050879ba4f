// What `doctor` finds out about the gateway that runs: where it is, whether it is ready, and whether it sells anything.
import { type Finding, note, ok } from "./finding.ts";
import { type DoorOptions, findDoor, openGateway, operatorFile, passByProxy } from "./gateway.ts";

/** What of the configuration says where a gateway would be, and what it would sell. */
interface Configured {
  /** Where it would answer. */
  address: string;
  dataDir: string;
  /** Null: it signs the demo's releases itself. */
  trust: object | null;
}

export async function gatewayFindings(config: Configured, flags: DoorOptions): Promise<Finding[]> {
  const gateway = await gatewayFinding(config, flags);
  // A demo signs what it sells by itself.
  if (gateway.state !== "ok" || config.trust === null) return [gateway];
  return [gateway, ...(await routesFinding({ ...flags, dataDir: config.dataDir }))];
}

/** Nothing where no management key is known here: then nobody may ask. */
async function routesFinding(options: DoorOptions): Promise<Finding[]> {
  const door = await findDoor(options).catch(() => null);
  if (door === null) return [];
  const asked = await openGateway(door)
    .call("GET /admin/v1/routes", {})
    .catch(() => null);
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
 * Found as every command finds it: by name, by the file that it wrote into the data directory, and at the address that is
 * configured here. The port of this shell may be another one than that of the gateway's.
 */
async function gatewayFinding({ address, dataDir }: Configured, { url }: DoorOptions): Promise<Finding> {
  const file = await operatorFile({ dataDir }).catch(() => null);
  const places: [string | undefined, string][] = [
    [url ?? (process.env["TOLLGATE_URL"] || undefined), "named by --url or TOLLGATE_URL"],
    [file?.url, "found by operator.json, as commands find it"],
    [address, "at the configured address"],
  ];
  for (const [place, how] of places) {
    const status = place === undefined ? null : await readiness(place);
    if (status === 200) return ok("gateway", `running and ready at ${place}, ${how}`);
    if (status !== null)
      return note(
        "gateway",
        `running at ${place}, ${how}, and not ready (${status})`,
        "It drains, or its store is away: its log says which.",
      );
  }
  const { directoryOwner } = await import("../src/store/directory-lock.ts");
  const owner = directoryOwner(dataDir);
  if (owner === null) return note("gateway", "not running", "Start it: ./tollgate serve");
  return {
    check: "gateway",
    state: "wrong",
    found: `process ${owner} has ${dataDir}, and answers nowhere`,
    next: "It starts, or hangs: wait, look at its log, or stop it; no other one starts there.",
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
