// The operator's use-cases, put together. Each noun has its file and names the part of the ledger that it uses.
import type { Operator } from "../contract/operator.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { audit } from "./audit.ts";
import { credits } from "./credits.ts";
import { entitlements } from "./entitlements.ts";
import { keys } from "./keys.ts";
import { organizations } from "./organizations.ts";
import { type RouteDesk, releases, routes } from "./releases.ts";
import { requests } from "./requests.ts";
import { usage } from "./usage.ts";

/** Builds the use-cases over the store and the shelf of routes. */
export const createOperator = (on: { ledger: Ledger; desk: RouteDesk; clock: Clock }): Operator => ({
  organizations: organizations(on.ledger),
  credits: credits(on.ledger),
  keys: keys(on.ledger),
  entitlements: entitlements(on.ledger, on.clock),
  releases: releases(on.desk, on.ledger),
  routes: routes(on.desk),
  usage: usage(on.ledger),
  requests: requests(on.ledger),
  ledger: audit(on.ledger),
});
