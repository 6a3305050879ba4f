// The rooms that endpoints call, as types only; plain readers (`src/reporting`) are functions that an
// endpoint imports.
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

/** The rooms for calls with management keys: the dashboard's rooms are not opened for them. */
export interface KeyRooms {
  operator: Operator;
  alerts: AlertService;
}

export interface Rooms extends KeyRooms {
  /** The ports of readers (`src/reporting`), whose functions are imported. */
  reports: Reports;
  changes: ChangesByHand;
  people: People;
  payments: PaymentService;
  /** Null if no mail server is configured. */
  sendMail: SendMail | null;
  devices: Pick<Devices, "decide" | "find">;
  playground: Playground;
  /**
   * Follows requests of an organization as they appear and change. Throws if there is no room for another
   * follower.
   */
  tail: (followed: AskedTail, exchange: Exchange) => Response;
  site: Site;
  nowMs(): number;
}

/** The dashboard's URL, without a trailing slash; and the base URL for snippets, which ends with `/v1`. */
interface Site {
  url: string;
  baseUrl: string;
  version: string;
}

export interface AskedTail {
  org: string;
  /** The follower. */
  person: string;
  filter: { key?: string | undefined; model?: string | undefined };
  /** RFC 3339; without it running and new requests. */
  after: string | undefined;
}

/** A request of the playground: the paying key, the surface, and its body. */
export interface Paying {
  authorization: Credential;
  surface: SpokenSurface;
  body: Uint8Array;
}

/** The request path of `/v1`, with a session instead of a key's secret. */
export interface Playground {
  complete(exchange: Exchange, paying: Paying): Promise<Response>;
  quote(exchange: Exchange, paying: Paying): Promise<Record<string, unknown>>;
}
