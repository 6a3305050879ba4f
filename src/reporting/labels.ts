// Names for ids: releases by digest (they never change, so they are cached), keys of an organization.
import { readRelease } from "../registry/releases.ts";
import type { Release } from "../domain/release.ts";
import type { Reader } from "../ledger/ledger.ts";
import { UnreadableRecord } from "../ledger/unreadable.ts";
import { from, rowsOf } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";

const KEPT_MAX = 1000;

/** Caches releases between pages, by digest; key names are read each time, because they change. */
export class LabelBook {
  constructor(
    private readonly sql: Sql,
    private readonly ledger: Reader,
    private readonly releases = new Map<string, Release>(),
  ) {}

  /** The same cache, with keys read through `sql`. */
  through(sql: Sql): LabelBook {
    return new LabelBook(sql, this.ledger, this.releases);
  }

  async releasesOf(digests: readonly string[]): Promise<ReadonlyMap<string, Release>> {
    for (const digest of new Set(digests)) {
      if (this.releases.has(digest)) continue;
      const release = await readRelease(this.ledger, digest).catch((error: unknown) => {
        if (error instanceof UnreadableRecord) return null; // one without a name does not affect the others
        throw error;
      });
      if (this.releases.size >= KEPT_MAX) this.releases.clear();
      if (release !== null) this.releases.set(digest, release);
    }
    return this.releases;
  }

  /** Exactly these keys, however many the organization has. */
  async keysOf(
    organizationId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { name: string; scope: string }>> {
    const keys = new Map<string, { name: string; scope: string }>();
    for (const some of inHundreds([...new Set(ids)])) {
      const query = from
        .selectFrom("api_key")
        .select(["key_id", "name", "scope"])
        .where("org_id", "=", organizationId)
        .where("key_id", "in", some);
      for (const { key_id, name, scope } of await rowsOf(this.sql, query)) keys.set(key_id, { name, scope });
    }
    return keys;
  }
}

/** By the release that served: a newer release of the same route does not change who served. */
export async function eachProvider<Of extends { release_digest: string }>(
  labels: Pick<LabelBook, "releasesOf">,
  rows: readonly Of[],
  take: (provider: string, row: Of) => void,
): Promise<void> {
  const releases = await labels.releasesOf([...new Set(rows.map((row) => row.release_digest))]);
  for (const row of rows) {
    const provider = releases.get(row.release_digest)?.provider;
    if (provider !== undefined) take(provider, row);
  }
}
