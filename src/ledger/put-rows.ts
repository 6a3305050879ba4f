// Adds loaded rows to the rows of a batch, each under its id. Cells come in the order of `LOAD`, followed by any joined ones.
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

/** Builds an API key from the columns of `LOAD.key`. */
export const keyOf = (cells: readonly Cell[]): KeyRow => LOAD.key.row(cells);

export const putKey: Put = (rows, cells) => {
  const row = keyOf(cells);
  rows.keys.set(rowId(row.organizationId, row.keyId), row);
};

/** Takes organization, key, and the data of its days in PostgreSQL's form. */
export const putKeySpend: Put = (rows, [organizationId, keyId, days, holds]) => {
  const spend = readSpend(textOrNull(days), textOrNull(holds));
  rows.keySpends.set(rowId(text(organizationId), text(keyId)), spend);
};

/** A settlement and an admission of one key load the same row; both must change the same object. */
export const putKeyMonth = (rows: Rows, cells: readonly Cell[], from = 0): void => {
  const row = LOAD.keyMonth.row(cells, from);
  const id = rowId(row.organizationId, row.keyId, row.month);
  if (!rows.keyMonths.has(id)) rows.keyMonths.set(id, row);
};

/** Decisions only distinguish finished from unfinished; `admitted`, left by older gateways, matters only to the sweeper. */
const stateOf = (state: "admitted" | RequestState): RequestState =>
  state === "admitted" ? "dispatched" : state;

/** Takes the claim, its request if that exists, whether its answer is kept, and whether it is quarantined. */
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

/** Builds a request from the columns of `LOAD.request`, as decisions see it. */
export function requestRowOf(cells: readonly Cell[]): RequestRow {
  const row = LOAD.request.row(cells);
  row.state = stateOf(row.state);
  return row as RequestRow;
}

export const putRequest: Put = (rows, cells) => {
  const row = requestRowOf(cells);
  rows.requests.set(rowId(row.organizationId, row.requestId), row);
};

/** An organization may hold several for one model, so they are collected in a list. */
export const putEntitlement: Put = (rows, cells) => {
  const { organizationId, model, state, expiresAtMs } = LOAD.entitlement.row(cells);
  const id = rowId(organizationId, model);
  const held = rows.entitlements.get(id) ?? [];
  held.push({ state, expiresAtMs });
  rows.entitlements.set(id, held);
};

/** Takes the state of a route, followed by the cells of its newest release. */
export const putRoute: Put = (rows, cells) => {
  const row = { ...LOAD.routeState.row(cells), ...LOAD.routeRelease.row(cells, widthOf(LOAD.routeState)) };
  rows.routes.set(row.route, row);
};

/** Keeps a row that is already loaded, so that every operation changes the same object. */
export const putRateLimit: Put = (rows, cells) => {
  const row = LOAD.rateLimit.row(cells);
  const id = rowId(row.organizationId, row.keyId, row.model);
  if (!rows.rateLimits.has(id)) rows.rateLimits.set(id, row);
};

/** Takes organization, key, model, and the number of running requests. */
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

/** Takes the request, and what has been refunded so far. */
export const putRefundable: Put = (rows, cells) => {
  const { organizationId, requestId, charge } = LOAD.refundable.row(cells);
  const refunded = money(cells[widthOf(LOAD.refundable)]);
  rows.refundables.set(rowId(organizationId, requestId), { charge, refunded });
};

/** Takes organization and request. */
export const putQuarantined: Put = (rows, [organizationId, requestId]) => {
  rows.quarantined.add(rowId(text(organizationId), text(requestId)));
};
