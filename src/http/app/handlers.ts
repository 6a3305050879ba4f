// Every handler of `/app/v1` but those of `payments`, put together. A route of the contract that nobody serves answers
// `not_configured`.
import type { Desk } from "../../contract/desk.ts";
import type { Operator } from "../../contract/operator.ts";
import { billingHandlers, type BillingPorts } from "./billing.ts";
import type { Handlers } from "./call.ts";
import { catalogueHandlers } from "./catalogue.ts";
import { invitationHandlers } from "./invitation.ts";
import { keysHandlers } from "./keys.ts";
import { operatorHandlers } from "./operator.ts";
import { playgroundHandlers, type PlaygroundPorts } from "./playground.ts";
import { sessionHandlers, type SessionPorts } from "./session.ts";
import { settingsHandlers } from "./settings.ts";
import { spendHandlers } from "./spend.ts";
import { teamHandlers } from "./team.ts";
import { usageViewHandlers } from "./usage-views.ts";

export interface HandlerPorts
  extends SessionPorts,
    Omit<PlaygroundPorts, "desk">,
    Omit<BillingPorts, "desk"> {
  desk: Desk;
  operator: Operator;
  url: string;
  nowMs(): number;
}

export const appHandlers = (on: HandlerPorts): Partial<Handlers> => ({
  ...sessionHandlers(on),
  ...invitationHandlers(on),
  ...teamHandlers(on),
  ...settingsHandlers(on),
  ...keysHandlers(on),
  ...spendHandlers(on),
  ...usageViewHandlers(on),
  ...billingHandlers(on),
  ...catalogueHandlers(on),
  ...playgroundHandlers(on),
  ...operatorHandlers(on),
});
