// `operator.json` in the data directory: where the command line finds this gateway and the key it operates it with
// (interfaces.md §2). A new key at each start; the one before is revoked.
import { byItself } from "../domain/actor.ts";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mintManagementKey } from "../registry/secret.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { createManagementKey, revokeManagementKey } from "../registry/management-keys.ts";

const NAME = "operator.json";
const ACTOR = byItself("start");

/** Makes the management key of this run, writes the file (mode 0600) and revokes the key of the run before. */
export async function writeOperatorFile(ledger: Ledger, at: { dataDir: string; url: string }): Promise<void> {
  const file = join(at.dataDir, NAME);
  const previous = previousKeyId(file);
  const id = newId("mk");
  const minted = mintManagementKey(id);
  await createManagementKey(ledger, { id, name: NAME, prefix: minted.prefix, digest: minted.digest }, ACTOR);
  // A new file, renamed into place: a reader sees the old key or the new one, and never somebody else's mode bits.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify({ url: at.url, token: minted.value, id })}\n`, { mode: 0o600 });
  renameSync(fresh, file);
  if (previous !== null) await revokeManagementKey(ledger, previous, ACTOR);
}

function previousKeyId(file: string): string | null {
  if (!existsSync(file)) return null;
  try {
    const { id } = JSON.parse(readFileSync(file, "utf8")) as { id?: unknown };
    return typeof id === "string" ? id : null;
  } catch {
    return null; // a torn or foreign file names no key of ours
  }
}
