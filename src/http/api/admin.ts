// The operator API as one fetch handler (interfaces.md §5): the endpoints at the management keys' door, the document that describes
// them, and its page. Loaded on its first request only.
import type { KeyRooms } from "../../api/rooms.ts";
import { openedOnce } from "../../lib/opened-once.ts";
import type { Uploads } from "../../limits/uploads.ts";
import type { People } from "../../people/people.ts";
import type { Asker } from "../../store/reading-turns.ts";
import { apiHandler, type ApiHandler } from "./handler.ts";
import { keyDoor, type PrincipalStore } from "./management-key.ts";
import { referencePage, referenceScript } from "./reference-page.ts";

interface AdminPorts {
  /** For reads, and for changes: see `ServePorts`. */
  rooms(this: void, asker: Asker): KeyRooms;
  changing(this: void): KeyRooms;
  uploads: Uploads;
  /** Finds which keys are valid here. */
  doors: PrincipalStore;
  /** Where answers to an `Idempotency-Key` are stored. */
  people(): Promise<Pick<People, "answers">>;
}

export function createAdminApp(on: AdminPorts): ApiHandler {
  const document = openedOnce(printDocument);
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  return apiHandler(
    keyDoor(on.doors),
    { ...on, completionBytes: 0 },
    {
      "/openapi.json": async () => new Response(await document(), { headers }),
      "/docs": referencePage,
      "/docs/reference.js": referenceScript,
    },
  );
}

/** Loaded and printed on demand: that takes longer than all the rest of the operator API. */
async function printDocument(): Promise<string> {
  const { openApiDocument } = await import("./document.ts");
  return JSON.stringify(openApiDocument());
}
