// The operator's changes on PostgreSQL: each a short transaction of its own that locks what it changes first, so that
// admissions on every gateway come before it or after it, and run again when it met another (money.md §7, §10).
import type { Pool, PoolClient } from "pg";
import { overloaded } from "../contract/overloaded.ts";
import type { Clock } from "../lib/clock.ts";
import { errorKind } from "../store/postgres-error.ts";
import type { Ledger } from "./ledger.ts";
import { int } from "./postgres-cell.ts";
import * as entitlements from "./postgres-entitlements.ts";
import * as keys from "./postgres-keys.ts";
import { DATABASE_NOW } from "./postgres-lease.ts";
import * as managementKeys from "./postgres-management-keys.ts";
import * as organizations from "./postgres-organizations.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import * as releases from "./postgres-releases.ts";

type OperatorChanges = Pick<
  Ledger,
  | "createOrganization"
  | "createKey"
  | "revokeKey"
  | "changeKey"
  | "requestEntitlement"
  | "approveEntitlement"
  | "revokeEntitlement"
  | "publishRelease"
  | "setRouteDisabled"
  | "createManagementKey"
  | "revokeManagementKey"
>;

/** Two that meet need a few tries; one that meets a commit which waits for its standby has none to win. */
const TRIES = 5;
const TRY_WITHIN_MS = 3_000;
/** Nobody waits longer for a standby that does not confirm; the server sets no limit to that wait. */
const COMMIT = { text: "COMMIT", query_timeout: 4_000 };

export class PostgresChanges {
  constructor(
    private readonly pool: Pool,
    /** What rows are stamped with: the database's clock when null. */
    private readonly stamps: Clock | null,
  ) {}

  interface(): OperatorChanges {
    return {
      createOrganization: (organization, actor) =>
        this.change((on, now) => organizations.createOrganization(on, { ...organization, actor }, now)),
      createKey: (key, actor) => this.change((on, now) => keys.createKey(on, { ...key, actor }, now)),
      revokeKey: (keyId, actor) => this.change((on, now) => keys.revokeKey(on, { keyId, actor }, now)),
      changeKey: (keyId, edit, actor) =>
        this.change((on, now) => keys.changeKey(on, { ...edit, keyId, actor }, now)),
      requestEntitlement: (entitlement, actor) =>
        this.change((on, now) => entitlements.requestEntitlement(on, { ...entitlement, actor }, now)),
      approveEntitlement: (id, expiresAtMs, actor) =>
        this.change((on, now) => entitlements.approveEntitlement(on, { id, expiresAtMs, actor }, now)),
      revokeEntitlement: (id, actor) =>
        this.change((on, now) => entitlements.revokeEntitlement(on, { id, actor }, now)),
      publishRelease: (published, actor) =>
        this.change((on, now) => releases.publishRelease(on, { ...published, actor }, now)),
      setRouteDisabled: (route, disabled, reason, actor) =>
        this.change((on, now) => releases.setRouteDisabled(on, { route, disabled, reason, actor }, now)),
      createManagementKey: (key, actor) =>
        this.change((on, now) => managementKeys.createManagementKey(on, { ...key, actor }, now)),
      revokeManagementKey: (id, actor) =>
        this.change((on, now) => managementKeys.revokeManagementKey(on, { id, actor }, now)),
    };
  }

  private async change<T>(apply: (on: Asking, nowMs: number) => Promise<T>): Promise<T> {
    const beganMs = performance.now();
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.once(apply);
      } catch (error) {
        const kind = errorKind(error);
        const late = performance.now() - beganMs > TRY_WITHIN_MS;
        if (kind === "store" || (kind === "conflict" && (late || tries === TRIES))) throw overloaded();
        // Two that make the same thing at once: the second finds it made.
        const again = kind === "conflict" || (error as { code?: string }).code === "23505";
        if (!again || tries === TRIES) throw error;
      }
    }
  }

  private async once<T>(apply: (on: Asking, nowMs: number) => Promise<T>): Promise<T> {
    const client: PoolClient = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query("BEGIN");
      const [row] = await askOnce(client, `SELECT ${DATABASE_NOW}`);
      const result = await apply(client, this.stamps?.nowMs() ?? int(row?.[0]));
      await client.query(COMMIT);
      return result;
    } catch (error) {
      if (errorKind(error) === "store") {
        broken = error instanceof Error ? error : new Error(String(error)); // it may not answer a ROLLBACK either
        throw error;
      }
      await client.query("ROLLBACK").catch((rollback: unknown) => {
        broken = rollback instanceof Error ? rollback : new Error(String(rollback));
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }
}
