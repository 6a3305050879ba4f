// Puts what a store loaded among the rows of a batch, each under its id: cells in the order of `LOAD`, and of what stands
// beside it.
import { widthOf } from "./column-loads.ts";
import { type Cell, flag, int, money, text, textOrNull } from "./cell.ts";
import { LOAD } from "./columns.ts";
import { readSpend } from "./key-spend.ts";
import { type ClaimRow, type KeyRow, type RequestRow, type RequestState, type Rows, rowId } from "./rows.ts";

/** Takes the cells of one loaded row. */
export type Put = (rows: Rows, cells: readonly Cell[]) => void;

export const putBalance: Put = (rows, cells) => {
  const row = LOAD.balance.row(cells);
  rows.balances.set(row.organizationId, row);
};

/** An API key from the columns of `LOAD.key`. */
export const keyOf = (cells: readonly Cell[]): KeyRow => LOAD.key.row(cells);

export const putKey: Put = (rows, cells) => {
  const row = keyOf(cells);
  rows.keys.set(rowId(row.organizationId, row.keyId), row);
};

/** Organization, key, and what its days are told from, as PostgreSQL says it. */
export const putKeySpend: Put = (rows, [organizationId, keyId, days, holds]) => {
  const spend = readSpend(textOrNull(days), textOrNull(holds));
  rows.keySpends.set(rowId(text(organizationId), text(keyId)), spend);
};

/** A settlement and an admission of one key ask for the same row; both must change one and the same. */
export const putKeyMonth = (rows: Rows, cells: readonly Cell[], from = 0): void => {
  const row = LOAD.keyMonth.row(cells, from);
  const id = rowId(row.organizationId, row.keyId, row.month);
  if (!rows.keyMonths.has(id)) rows.keyMonths.set(id, row);
};

/** To decisions a request is unfinished or not; that older gateways left it `admitted` matters to the sweeper alone. */
const stateOf = (state: "admitted" | RequestState): RequestState =>
  state === "admitted" ? "dispatched" : state;

/** The claim, its request as far as it is there, whether its answer is kept, whether it is quarantined. */
export const putClaim: Put = (rows, cells) => {
  const claim = LOAD.claim.row(cells);
  const { state, answerUntilMs, claimUntilMs } = LOAD.claiming.row(cells, CLAIM_WIDTH);
  const missing = cells[CLAIM_WIDTH] === null;
  const [answerKept, quarantined] = cells.slice(CLAIM_WIDTH + widthOf(LOAD.claiming));
  const row: ClaimRow = {
    ...claim,
    state: missing ? null : stateOf(state),
    answerUntilMs,
    claimUntilMs,
    answerKept: flag(answerKept),
    quarantined: flag(quarantined),
  };
  rows.claims.set(rowId(row.organizationId, row.keyId, row.idempotencyKey), row);
};
const CLAIM_WIDTH = widthOf(LOAD.claim);

/** A request from the columns of `LOAD.request`, as decisions see it. */
export function requestRowOf(cells: readonly Cell[]): RequestRow {
  const row = LOAD.request.row(cells);
  row.state = stateOf(row.state);
  return row as RequestRow;
}

export const putRequest: Put = (rows, cells) => {
  const row = requestRowOf(cells);
  rows.requests.set(rowId(row.organizationId, row.requestId), row);
};

/** An organization may hold several for one model: they are gathered in a list. */
export const putEntitlement: Put = (rows, cells) => {
  const { organizationId, model, state, expiresAtMs } = LOAD.entitlement.row(cells);
  const id = rowId(organizationId, model);
  const held = rows.entitlements.get(id) ?? [];
  held.push({ state, expiresAtMs });
  rows.entitlements.set(id, held);
};

/** The state of a route, and behind it the cells of its newest release. */
export const putRoute: Put = (rows, cells) => {
  const row = { ...LOAD.routeState.row(cells), ...LOAD.routeRelease.row(cells, widthOf(LOAD.routeState)) };
  rows.routes.set(row.route, row);
};

/** Whoever asks again changes the same row. */
export const putRateLimit: Put = (rows, cells) => {
  const row = LOAD.rateLimit.row(cells);
  const id = rowId(row.organizationId, row.keyId, row.model);
  if (!rows.rateLimits.has(id)) rows.rateLimits.set(id, row);
};

/** Organization, key, model, how many of its requests run. */
export const putOpenRequests: Put = (rows, [organizationId, keyId, model, running]) => {
  rows.openRequests.set(rowId(text(organizationId), text(keyId), text(model)), int(running));
};

export const putTopUp: Put = (rows, cells) => {
  const { organizationId, source, externalId, ...row } = LOAD.topUp.row(cells);
  rows.topUps.set(rowId(organizationId, source, externalId), row);
};

export const putReversal: Put = (rows, cells) => {
  const { organizationId, source, externalId, ...row } = LOAD.reversal.row(cells);
  rows.reversals.set(rowId(organizationId, source, externalId), row);
};

/** The request, and what it gave back so far. */
export const putRefundable: Put = (rows, cells) => {
  const { organizationId, requestId, charge } = LOAD.refundable.row(cells);
  const refunded = money(cells[widthOf(LOAD.refundable)]);
  rows.refundables.set(rowId(organizationId, requestId), { charge, refunded });
};

/** Organization and request. */
export const putQuarantined: Put = (rows, [organizationId, requestId]) => {
  rows.quarantined.add(rowId(text(organizationId), text(requestId)));
};
