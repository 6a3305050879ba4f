// What a restore does with the people in a backup: sessions, links and invitations that ended after it stay ended, and
// people whose role or sign-in was changed after it are listed, because the change is undone.
import { Database } from "bun:sqlite";
import { withoutRoom } from "../store/sqlite-error.ts";

/** Lists are null if there are no previous people to compare with. */
export interface StandsAgain {
  /** Memberships that ended or got another role after the backup, as `ada@example.com, developer of org_…`. */
  members: string[] | null;
  /** Addresses of operators who were removed after the backup. */
  operators: string[] | null;
  /** Addresses of people whose password, passkeys or second factor changed after the backup. */
  signIns: string[] | null;
  /** Invitations that were open in the backup and are withdrawn now. */
  invitationsEnded: number;
}

/**
 * `copy`: the backup's people, about to become those of the store. `replaced`: the file of the previous people; null if
 * there is none.
 */
export function restorePeople(copy: Database, replaced: string | null): StandsAgain {
  signEverybodyOut(copy);
  const before = replaced === null ? null : readable(replaced);
  try {
    const open = new Set(before === null ? [] : names(before, OPEN_LINKS));
    return {
      members: since(copy, before, MEMBERS),
      operators: since(copy, before, OPERATORS),
      signIns: changedSignIns(copy, before),
      invitationsEnded: endInvitations(copy, open),
    };
  } finally {
    before?.close();
  }
}

const OPEN_LINKS = `SELECT digest FROM invitation WHERE state = 'open'`;
const MEMBERS = `SELECT "user".email || ', ' || role || ' of ' || "organizationId" FROM membership
  JOIN "user" ON "user".id = membership."personId"`;
const OPERATORS = `SELECT email FROM "user" WHERE operator = 1`;
/** One row for each secret that somebody signs in with. */
const SIGN_INS = [
  `SELECT "userId", password FROM account WHERE password IS NOT NULL`,
  `SELECT "userId", "credentialID" FROM passkey`,
  `SELECT "userId", secret FROM "twoFactor"`,
];

/** Null if the file cannot be read, which may be why it is replaced. */
function readable(path: string): Database | null {
  try {
    const database = new Database(path, { readonly: true });
    database.query(OPERATORS).values();
    return database;
  } catch (error) {
    if (withoutRoom(error)) throw error;
    return null;
  }
}

/** Without this, sessions that ended and links that were used after the backup would work again. */
function signEverybodyOut(database: Database): void {
  for (const table of ["session", "verification"])
    if (has(database, table)) database.run(`DELETE FROM "${table}"`);
}

/**
 * An invitation stays open only if it is known to be open still: any other may have been withdrawn, replaced or used.
 */
function endInvitations(copy: Database, open: ReadonlySet<string>): number {
  const ended = names(copy, OPEN_LINKS).filter((digest) => !open.has(digest));
  const end = has(copy, "invitation")
    ? copy.query("UPDATE invitation SET state = 'withdrawn' WHERE digest = ?1")
    : null;
  for (const digest of ended) end?.run(digest);
  return ended.length;
}

/** Rows that are in the copy but were no longer in the previous file. */
function since(copy: Database, before: Database | null, sql: string): string[] | null {
  if (before === null) return null;
  const had = new Set(names(before, sql));
  return names(copy, sql).filter((name) => !had.has(name));
}

function changedSignIns(copy: Database, before: Database | null): string[] | null {
  if (before === null) return null;
  const [now, then] = [copy, before].map(signInsOf);
  return copy
    .query<{ id: string; email: string }, []>(`SELECT id, email FROM "user" ORDER BY email`)
    .all()
    .filter(({ id }) => then?.has(id) === true && now?.get(id) !== then.get(id))
    .map(({ email }) => email);
}

function signInsOf(database: Database): Map<string, string> {
  const found = SIGN_INS.flatMap((sql) => rows(database, sql)) as [string, string][];
  const people = rows(database, `SELECT id FROM "user"`).map(([id]) => String(id));
  const of = Object.groupBy(found, ([id]) => id);
  return new Map(
    people.map((id) => [
      id,
      (of[id] ?? [])
        .map(([, secret]) => secret)
        .toSorted()
        .join("\n"),
    ]),
  );
}

const names = (database: Database, sql: string): string[] =>
  rows(database, sql)
    .map(([name]) => String(name))
    .toSorted();

/** Returns no rows for a table that an older file does not have. */
function rows(database: Database, sql: string): unknown[][] {
  const [, table = ""] = /FROM "?(\w+)"?/.exec(sql) ?? [];
  return has(database, table) ? database.query(sql).values() : [];
}

const has = (database: Database, table: string): boolean =>
  database.query("SELECT 1 FROM sqlite_master WHERE name = ?1").values(table).length > 0;
