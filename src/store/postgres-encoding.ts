// Checks that a database accepts every text. Names, and what providers say about a failure, are written with charges:
// an encoding that cannot represent their letters would refuse the end of a request, whose money stays held.
import type { ClientBase } from "pg";
import { StoreFailure } from "./store-failure.ts";

/** SQL_ASCII takes bytes as they come, and they are UTF-8. */
const TAKES_EVERY_TEXT = new Set(["UTF8", "SQL_ASCII"]);

/** Throws `StoreFailure` if its encoding covers only some languages. */
export async function assertTakesEveryText(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>("SHOW server_encoding");
  const encoding = rows[0]?.server_encoding ?? "";
  if (TAKES_EVERY_TEXT.has(encoding)) return;
  throw new StoreFailure(
    "encoding",
    `was created with the encoding ${encoding}, which cannot store all characters`,
    "create another one with ENCODING 'UTF8' TEMPLATE template0, and move its contents with pg_dump",
  );
}
