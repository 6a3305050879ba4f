// Names for ids: releases by digest (they never change, so they are kept), keys of an organization.
import type { Release } from "../../contract/release.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { type Sql, textOf } from "../../store/sql.ts";

const KEPT_MAX = 1000;

export class LabelBook {
  private readonly releases = new Map<string, Release>();

  constructor(
    private readonly sql: Sql,
    private readonly ledger: Pick<Ledger, "release">,
  ) {}

  async releasesOf(digests: readonly string[]): Promise<ReadonlyMap<string, Release>> {
    for (const digest of new Set(digests)) {
      if (this.releases.has(digest)) continue;
      const release = await this.ledger.release(digest);
      if (this.releases.size >= KEPT_MAX) this.releases.clear();
      if (release !== null) this.releases.set(digest, release);
    }
    return this.releases;
  }

  async keysOf(organizationId: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.sql.rows("SELECT key_id, name FROM api_key WHERE org_id = ?1", organizationId);
    return new Map(rows.map((row) => [textOf(row["key_id"]), textOf(row["name"])]));
  }
}
