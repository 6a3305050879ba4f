// `/app/v1` as one fetch handler: the endpoints at the session's door. Loaded on its first request only.
import type { Rooms } from "../../api/rooms.ts";
import type { Uploads } from "../../limits/uploads.ts";
import type { People } from "../../people/people.ts";
import type { Asker } from "../../store/reading-turns.ts";
import { apiHandler, type ApiHandler } from "./handler.ts";
import { sessionDoor, type SessionPorts } from "./session.ts";

export interface AppPorts extends Omit<SessionPorts, "people"> {
  people: SessionPorts["people"] & Pick<People, "answers">;
  /** For reads, and for changes: see `ServePorts`. */
  rooms(this: void, asker: Asker): Rooms;
  changing(this: void, asker: Asker): Rooms;
  uploads: Uploads;
  /** The limit for the playground, whose bodies are requests of `/v1`. */
  completionBytes: number;
}

/** Answers are not cached unless their endpoint says otherwise, and never make a browser ask for a password. */
export function createApp(on: AppPorts): ApiHandler {
  const serve = apiHandler(sessionDoor(on), { ...on, people: async () => on.people });
  return async (request, arrived) => {
    const response = await serve(request, arrived);
    if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
    response.headers.delete("www-authenticate");
    return response;
  };
}
