// Adds many keys and many people to a seeded store, written into its files while nothing serves them: for measuring
// how pages handle many rows. Their spend is only in the roll-ups, so such a store does not pass verification.
import { Database } from "bun:sqlite";
import { join } from "node:path";

const HOUR_MS = 3_600_000;
const DAYS = 14;
/** The most live keys an organization may have. */
const LIVE_MOST = 900;
const MEMBERS_MOST = 900;
const MODELS = ["swift-1", "steady-2"];
const HOURS_EACH = 5;

interface Crowd {
  dataDir: string;
  org: string;
  keys: number;
}

/** Adds that many keys to one organization, the newest of them live, and as many people, some of them its members. */
export function fillWithCrowd({ dataDir, org, keys }: Crowd): void {
  fillPeople(join(dataDir, "people.sqlite"), org, keys);
  const store = new Database(join(dataDir, "tollgate.sqlite"));
  const nowMs = Date.now();
  const month = new Date(nowMs).toISOString().slice(0, 7);
  const key = store.query(
    `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, limit_nano, created_at, revoked_at, last_four)
     VALUES (?1, ?2, ?3, 'gw_sk_crowd', zeroblob(32), 'standard', ?4, ?5, ?6, ?7)`,
  );
  const made = store.query(
    `INSERT INTO audit_log (at, actor, action, org_id, target, value_after)
     VALUES (?1, ?2, 'key.create', ?3, ?4, '{"name":"crowd"}')`,
  );
  const used = store.query(
    `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
     VALUES (?1, ?2, ?3, ?4, 1, 100, 0, 100, 1000000)`,
  );
  const spent = store.query(
    `INSERT INTO key_month (org_id, key_id, month, held, spent, last_admitted_at) VALUES (?1, ?2, ?3, 0, 5000000, ?4)`,
  );
  store.transaction(() => {
    for (let n = 0; n < keys; n += 1) {
      const id = `key_crowd${String(n).padStart(6, "0")}`;
      const createdAt = nowMs - DAYS * 24 * HOUR_MS + n;
      const live = n >= keys - LIVE_MOST;
      const lastFour = String(n % 10_000).padStart(4, "0");
      key.run(
        org,
        id,
        `Crowd ${n}`,
        n % 2 === 0 ? 1_000_000_000 : null,
        createdAt,
        live ? null : createdAt,
        lastFour,
      );
      made.run(createdAt, `usr_crowd${n % MEMBERS_MOST}`, org, id);
      for (const model of MODELS)
        for (let hour = 0; hour < HOURS_EACH; hour += 1)
          used.run(org, id, model, Math.floor(nowMs / HOUR_MS) - ((n * 7 + hour * 61) % (DAYS * 24)));
      spent.run(org, id, month, nowMs);
    }
  })();
  store.close();
}

function fillPeople(file: string, org: string, many: number): void {
  const store = new Database(file);
  const person = store.query(
    `INSERT INTO user (id, name, email, emailVerified, createdAt, updatedAt, operator)
     VALUES ('usr_crowd' || ?1, 'Person ' || ?1, 'person' || ?1 || '@example.com', 1, ?2, ?2, 0)`,
  );
  const member = store.query(
    `INSERT INTO membership (id, place, organizationId, personId, role, joinedAt, seenAt)
     VALUES ('mem_crowd' || ?1, ?2 || ' usr_crowd' || ?1, ?2, 'usr_crowd' || ?1, 'viewer', ?3, ?3)`,
  );
  const now = new Date();
  store.transaction(() => {
    for (let n = 0; n < many; n += 1) {
      person.run(n, now.toISOString());
      if (n < MEMBERS_MOST) member.run(n, org, now.getTime());
    }
  })();
  store.close();
}
