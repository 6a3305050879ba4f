// Whether a database takes every text. Names, and what providers say of a failure, are written beside charges: one that has no
// place for their letters refuses the end of a request, whose money stays held.
import type { ClientBase } from "pg";
import { StoreFailure } from "./store-failure.ts";

/** SQL_ASCII takes bytes as they come, which are UTF-8's. */
const TAKES_EVERY_TEXT = new Set(["UTF8", "SQL_ASCII"]);

/** Throws `StoreFailure` where it was made with an encoding of some languages only. */
export async function assertTakesEveryText(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>("SHOW server_encoding");
  const encoding = rows[0]?.server_encoding ?? "";
  if (TAKES_EVERY_TEXT.has(encoding)) return;
  throw new StoreFailure(
    "encoding",
    `was made with the encoding ${encoding}, which has no place for all letters; make another one with ENCODING 'UTF8' TEMPLATE template0, and move what is in it with pg_dump`,
  );
}
