// Every handler of `/app/v1`, put together. A route of the contract that is not here answers `not_configured`.
import { alertHandlers, type AlertsPorts } from "./alerts.ts";
import type { Handlers } from "./call.ts";
import { invitationHandlers } from "./invitation.ts";
import { moneyHandlers, type MoneyPorts } from "./money.ts";
import { sessionHandlers, type SessionPorts } from "./session.ts";
import { settingsHandlers, type SettingsPorts } from "./settings.ts";
import { teamHandlers, type TeamPorts } from "./team.ts";

export type HandlerPorts = SessionPorts & TeamPorts & SettingsPorts & MoneyPorts & AlertsPorts;

export const appHandlers = (on: HandlerPorts): Partial<Handlers> => ({
  ...sessionHandlers(on),
  ...invitationHandlers(on),
  ...teamHandlers(on),
  ...settingsHandlers(on),
  ...moneyHandlers(on),
  ...alertHandlers(on),
});
