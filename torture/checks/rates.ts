// The rate limit of a key over all gateways. Over any stretch of time there are no more requests than the limit plus
// what refills meanwhile, and no more tokens than that plus what was reserved by requests that ran when the stretch
// began.
import { MINUTE_MS } from "../../src/domain/durations.ts";
import type { Check, Violation } from "../evidence.ts";
import type { RequestRow } from "../store.ts";
import { RATED } from "../world.ts";

export const rates: Check = (evidence) => {
  const keyId = evidence.found.history.keys.get(RATED.key)?.keyId;
  const rows = evidence.found.rows
    .filter((row) => row.keyId === keyId)
    .sort((a, b) => a.admittedAtMs - b.admittedAtMs);
  const worst: Violation[] = [];
  for (const [from, first] of rows.entries()) {
    let tokens = 0;
    const beside = reservedAt(rows, from);
    for (const [index, last] of rows.slice(from).entries()) {
      tokens += usedBy(last);
      // One millisecond more, because instants are rounded to it.
      const minutes = (last.admittedAtMs - first.admittedAtMs + 1) / MINUTE_MS;
      const most = {
        requests: RATED.requests * (1 + minutes),
        tokens: RATED.tokens * (1 + minutes) + beside,
      };
      if (index + 1 <= most.requests && tokens <= most.tokens) continue;
      worst.push({
        broken: "a key took more in a minute than it may",
        facts: {
          keyId,
          first: first.requestId,
          last: last.requestId,
          requests: index + 1,
          tokens,
          beside,
          most,
        },
      });
      break;
    }
  }
  return worst;
};

const usedBy = ({ promptTokens, completionTokens, promptBound, outputBound }: RequestRow): number =>
  Math.min((promptTokens ?? 0) + (completionTokens ?? 0), promptBound + outputBound);

/** Reserved by requests that were admitted before this one and had not ended. */
function reservedAt(rows: readonly RequestRow[], index: number): number {
  const atMs = rows[index]?.admittedAtMs ?? 0;
  return rows
    .slice(0, index)
    .filter(({ endedAtMs }) => endedAtMs === null || endedAtMs >= atMs)
    .reduce((sum, { promptBound, outputBound }) => sum + promptBound + outputBound, 0);
}
