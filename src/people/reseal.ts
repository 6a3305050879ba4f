// The part of people that depends on the data key: second factors are sealed with the secret that signs
// cookies. Runs in the transaction that changes the key; the embedded store's people are attached to it under
// their PostgreSQL schema name.
import { symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import { ask, numberOf, type Query, textOf } from "../store/sql.ts";
import { sessionSecret } from "./store.ts";

/** As stored by the sign-in library. */
export interface Factor {
  id: string;
  secret: string;
  backupCodes: string;
}

const THERE = {
  sqlite: "SELECT name FROM people.sqlite_master WHERE name IN ('twoFactor', 'session')",
  postgresql:
    "SELECT tablename FROM pg_tables WHERE schemaname = 'people' AND tablename IN ('twoFactor', 'session')",
};

/** True if anybody ever signed in here. */
export function* anybodyKept(): Query<boolean> {
  return (yield* ask(THERE)).length === 2;
}

/** The second factors as sealed under the old key. */
export function* factors(): Query<Factor[]> {
  const rows = yield* ask(`SELECT id, secret, "backupCodes" AS codes FROM people."twoFactor"`);
  return rows.map(({ id, secret, codes }) => ({
    id: textOf(id),
    secret: textOf(secret),
    backupCodes: textOf(codes),
  }));
}

/** Null if the old key does not open it. */
export async function resealedFactor(
  { id, secret, backupCodes }: Factor,
  { from, to }: { from: Uint8Array; to: Uint8Array },
): Promise<Factor | null> {
  const anew = async (data: string): Promise<string> => {
    const plain = await symmetricDecrypt({ key: sessionSecret(from), data });
    return await symmetricEncrypt({ key: sessionSecret(to), data: plain });
  };
  try {
    return { id, secret: await anew(secret), backupCodes: await anew(backupCodes) };
  } catch {
    return null;
  }
}

/** Overwrites them, in the transaction that changes the key. */
export function* keepFactors(resealed: readonly Factor[]): Query<void> {
  for (const { id, secret, backupCodes } of resealed)
    yield* ask(`UPDATE people."twoFactor" SET secret = ?2, "backupCodes" = ?3 WHERE id = ?1`, [
      id,
      secret,
      backupCodes,
    ]);
}

/** Ends all sessions, because no cookie of the old secret opens one any more; returns how many there were. */
export function* endSessions(): Query<number> {
  const [{ count } = { count: 0 }] = yield* ask("SELECT count(*) AS count FROM people.session");
  yield* ask("DELETE FROM people.session");
  return numberOf(count);
}
