// `tollgate login` (RFC 8628): a terminal requests a pair of codes, an operator decides about the short one
// at `/device`, the terminal fetches a management key with the long one, once.
import { z } from "zod";
import { line } from "./fields.ts";
import { DEVICE_CLIENT, DEVICE_GRANT } from "../../domain/device-words.ts";

const client = z.literal(DEVICE_CLIENT);
/** `host` and `version` are claims of the terminal: shown to the deciding operator, but not trusted. */
export const deviceCodeInput = z.strictObject({ client_id: client, host: line(100), version: line(40) });
export const deviceTokenInput = z.strictObject({
  client_id: client,
  grant_type: z.literal(DEVICE_GRANT),
  device_code: z.string().max(200),
});

export interface DeviceCodeJson {
  device_code: string;
  /** As people type it: `BCDF-GHJK`. */
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  /** Seconds. */
  expires_in: number;
  interval: number;
}

export interface DeviceTokenJson {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  /** The management key's id, its name on the People page, and who approved it. */
  key: string;
  name: string;
  person: string;
  expires_at: string;
}

/** A login that is open or decided. */
export const device = z.object({
  id: z.string(),
  host: z.string(),
  version: z.string(),
  address: z.string(),
  asked_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  state: z.enum(["open", "approved", "declined"]),
  /** The management key's future name. */
  key_name: z.string(),
  key_days: z.int(),
});
export type DeviceJson = z.output<typeof device>;
export const findDeviceInput = z.strictObject({ user_code: z.string().max(20) });

/** RFC 8628 §3.5 and RFC 6749 §5.2, with the meaning of each here. */
export const DEVICE_REFUSALS = {
  authorization_pending: "The login has not been decided yet. Ask again after the interval.",
  slow_down: "Asked too soon: from now on the interval is five seconds longer.",
  access_denied: "The login was declined.",
  expired_token: "The code is older than ten minutes. Start the login again.",
  invalid_grant: "This device code is unknown or was already used. Start the login again.",
} as const;
export type DeviceRefusalCode = keyof typeof DEVICE_REFUSALS;

/** `code` is sent to the terminal (RFC 8628 §3.5, RFC 6749 §5.2). */
export class DeviceRefusal extends Error {
  constructor(readonly code: DeviceRefusalCode) {
    super(DEVICE_REFUSALS[code]);
    this.name = "DeviceRefusal";
  }
}
