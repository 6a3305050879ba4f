// The rooms that endpoints call, by type only: readers alone (`src/reporting`) are functions that an entry imports.
import type { SendMail } from "../alerts/mail/message.ts";
import type { SpokenSurface } from "../domain/surfaces.ts";
import type { AlertService } from "../operator/alerts.ts";
import type { ChangesByHand } from "../operator/changes.ts";
import type { Operator } from "../operator/operator.ts";
import type { PaymentService } from "../operator/payments.ts";
import type { Credential } from "../domain/credential.ts";
import type { Devices } from "../operator/devices.ts";
import type { People } from "../people/people.ts";
import type { Reports } from "../reporting/reports.ts";
import type { Exchange } from "./exchange.ts";

/** What a management key's calls reach: the dashboard's rooms are not opened for them. */
export interface KeyRooms {
  operator: Operator;
  alerts: AlertService;
}

export interface Rooms extends KeyRooms {
  /** What readers take (`src/reporting`): their functions are called by name. */
  reports: Reports;
  changes: ChangesByHand;
  people: People;
  payments: PaymentService;
  /** Null where no mail server is configured. */
  sendMail: SendMail | null;
  devices: Pick<Devices, "decide" | "find">;
  playground: Playground;
  /** Requests of an organization as they appear and change. Throws when there is no place for another one. */
  tail: (followed: AskedTail, exchange: Exchange) => Response;
  site: Site;
  nowMs(): number;
}

/** Where people reach the dashboard, without a slash at the end; what to show in snippets, ends with `/v1`. */
interface Site {
  url: string;
  baseUrl: string;
  version: string;
}

export interface AskedTail {
  org: string;
  /** Who follows. */
  person: string;
  filter: { key?: string | undefined; model?: string | undefined };
  /** RFC 3339; without it what runs now and what comes. */
  after: string | undefined;
}

/** A request of the playground: who pays, on which surface, and its body. */
export interface Paying {
  authorization: Credential;
  surface: SpokenSurface;
  body: Uint8Array;
}

/** The line of `/v1`, for a session instead of a key's secret. */
export interface Playground {
  complete(exchange: Exchange, paying: Paying): Promise<Response>;
  quote(exchange: Exchange, paying: Paying): Promise<Record<string, unknown>>;
}
