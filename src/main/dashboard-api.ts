// `/app/v1` and sign-in, over the same use-cases as the command line. Their rooms are loaded on the first
// request: a gateway whose dashboard nobody opens does not pay for them.
import type { Config } from "../config/config.ts";
import { DEVICE_CODE_PATH, DEVICE_TOKEN_PATH } from "../domain/device-words.ts";
import { linkTo } from "../domain/links.ts";
import type { Handler } from "../http/context.ts";
import type { Method, Route } from "../http/router.ts";
import type { Clock } from "../lib/clock.ts";
import { firstRunToken } from "../people/first-run.ts";
import type { People } from "../people/people.ts";
import { anybodyHere } from "../people/open-store.ts";
import { sessionSecret } from "../people/store.ts";
import type { DashboardRooms, DashboardDoor, PeopleRooms } from "./dashboard-rooms.ts";

const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export interface DashboardApi {
  /** Opened on first use. */
  people(): Promise<People>;
  routes: Route[];
  stop(): Promise<void>;
}

/** The first-run link for the terminal, while there is no account; null afterwards. */
export async function firstRunLink(
  config: Config,
  { url, dataKey, clock }: { url: string; dataKey: Uint8Array; clock: Clock },
): Promise<string | null> {
  if (await anybodyHere({ dataDir: config.dataDir, databaseUrl: config.databaseUrl })) return null;
  return linkTo("welcome", { url, token: firstRunToken(sessionSecret(dataKey), clock.nowMs()) });
}

/** Its routes exist at once; the rooms open with the first request, or if that fails with the next. */
export function dashboardApi(config: Config, rooms: PeopleRooms): DashboardApi {
  let opening: Promise<DashboardRooms> | null = null;
  const loaded = (): Promise<DashboardRooms> =>
    (opening ??= open(config, rooms).catch((error: unknown) => {
      opening = null;
      throw error;
    }));
  const handler =
    (door: DashboardDoor): Handler =>
    async ({ request, requestId, receivedAtMs, address, setIdleTimeout, sending }) => {
      const visitor = { headers: request.headers, address };
      const exchange = { visitor, requestId, receivedAtMs, setIdleTimeout, sending };
      return await (await loaded())[door](request, exchange);
    };
  const route = (path: string, door: "app" | "auth"): Route => ({
    path,
    methods: METHODS,
    door: "session",
    handler: handler(door),
  });
  const device = (path: string, door: "code" | "token"): Route => ({
    path,
    methods: ["POST"],
    door: "public",
    handler: handler(door),
  });
  return {
    people: async () => (await loaded()).people,
    routes: [
      route("/app/v1/*", "app"),
      route("/auth/*", "auth"),
      device(DEVICE_CODE_PATH, "code"),
      device(DEVICE_TOKEN_PATH, "token"),
    ],
    stop: async () => {
      const rooms = await opening?.catch(() => null); // the caller has received the error
      await rooms?.close();
    },
  };
}

async function open(config: Config, rooms: PeopleRooms): Promise<DashboardRooms> {
  const { openDashboardRooms } = await import("./dashboard-rooms.ts");
  return await openDashboardRooms(config, rooms);
}
