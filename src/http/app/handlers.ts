// Every handler of `/app/v1`, put together. A route of the contract that is not here answers `not_configured`.
import type { Handlers } from "./call.ts";
import { invitationHandlers } from "./invitation.ts";
import { sessionHandlers, type SessionPorts } from "./session.ts";
import { settingsHandlers, type SettingsPorts } from "./settings.ts";
import { teamHandlers, type TeamPorts } from "./team.ts";

export type HandlerPorts = SessionPorts & TeamPorts & SettingsPorts;

export const appHandlers = (on: HandlerPorts): Partial<Handlers> => ({
  ...sessionHandlers(on),
  ...invitationHandlers(on),
  ...teamHandlers(on),
  ...settingsHandlers(on),
});
