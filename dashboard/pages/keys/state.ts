// The state of a key as its row shows it, derived once for badge, filter and search.
import type { Row } from "../../api/routes.ts";
import { isVisible } from "../../../src/domain/visible-text.ts";
import { addMoney, percentOf } from "../../format/money.ts";

type Key = Row<"GET /orgs/{org}/keys">;

type KeyState = "active" | "limit" | "paused" | "expired" | "revoked";

export const stateOf = ({ status, blocked_by_limit }: Key): KeyState =>
  status === "active" && blocked_by_limit ? "limit" : status;

/** It no longer works, and never will. */
export const isOver = ({ status }: Key): boolean => status === "revoked" || status === "expired";

/**
 * A key's recognizable form: its beginning and its end; for a key from before the end was stored, everything before
 * its secret.
 */
export const shortKeyOf = ({ prefix, last_four }: Pick<Key, "prefix" | "last_four">): string =>
  last_four ? `${prefix.slice(0, BEGINNING)}…${last_four}` : `${prefix}…`;
const BEGINNING = "gw_sk_7Qd3".length;

/** Its name, or its id if the name has nothing visible. */
export const shownName = ({ id, name }: Pick<Key, "id" | "name">): string => (isVisible(name) ? name : id);

/** Spend of the month plus open holds: what the limit is compared with. */
export const usedOf = ({ month_spend_usd, held_usd }: Key): string => addMoney(month_spend_usd, held_usd);

export const percentUsed = (key: Key): number =>
  key.limit_usd === null ? 0 : percentOf(usedOf(key), key.limit_usd);
