// Checks the stored releases: each is what was signed, under its own digest, and its row agrees with it
// (I20 of money.md §5). That a route's highest version is its newest release's is checked by the sums.
import { storedRelease } from "../frozen-release.ts";
import { ask, numberOf, type Query, type SqlRow, type SqlValue, textOf } from "../../store/sql.ts";
import { messageOf } from "../../domain/error-message.ts";
import type { Findings } from "./findings.ts";

const INVARIANT = "I20 a release is what was signed";

/** A release may hold a manifest of several kilobytes. */
const PAGE = 200;
const PAGE_AFTER = `SELECT route, version, digest, jws, manifest, signed_by, expires_at FROM route_release
  WHERE (route, version) > (?1, ?2) ORDER BY route, version LIMIT ${PAGE}`;

/** I20, page by page over all releases ever published; the same queries on both stores. */
export function* checkReleases(findings: Findings): Query<void> {
  let last: SqlValue[] = ["", 0];
  for (;;) {
    const page = yield* ask(PAGE_AFTER, last);
    for (const row of page)
      findings.equal(INVARIANT, {
        requestId: String(row["digest"]),
        expected: saidOf(row),
        found: signedOf(row),
      });
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) return;
    last = [textOf(end["route"]), numberOf(end["version"])];
  }
}

const printed = (...figures: (string | number)[]): string => figures.join(" ");

function saidOf(row: SqlRow): string {
  try {
    const [route, digest, signer] = [textOf(row["route"]), textOf(row["digest"]), textOf(row["signed_by"])];
    return printed(route, numberOf(row["version"]), digest, signer, numberOf(row["expires_at"]));
  } catch (error) {
    return messageOf(error);
  }
}

function signedOf(row: SqlRow): string {
  try {
    const { route, version, digest, signedBy, expiresAtMs } = storedRelease("it", row);
    return printed(route, version, digest, signedBy, expiresAtMs);
  } catch (error) {
    return messageOf(error); // itself a violation
  }
}
