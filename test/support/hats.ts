// The credentials that one person may have: a session at the dashboard, a login of the command line, a management
// key.
import type { Browser } from "./browser.ts";
import { assertTold } from "./told.ts";
import { askForCodes, poll } from "./device.ts";

export interface Called {
  status: number;
  json: { id?: string; link?: string; error?: { code: string; message: string } };
}

/** Calls the operator API with this management key. */
export async function callAdmin(
  url: string,
  key: string,
  [method, path]: readonly ["GET" | "POST", string],
  body?: unknown,
): Promise<Called> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const called = { status: response.status, json: (await response.json()) as Called["json"] };
  assertTold(method, `/admin/v1${path}`, called);
  return called;
}

/** A device code that this operator approved. */
export async function approvedCode(url: string, operator: Browser): Promise<string> {
  const { device_code, user_code } = await askForCodes(url);
  const { id } = await operator.app("POST /operator/devices/find", {}, { user_code });
  await operator.app("POST /operator/devices/{device}/approve", { device: id });
  return device_code;
}

/** The secret of a command-line login of this operator. */
export async function loginOf(url: string, operator: Browser): Promise<string> {
  const { json, text } = await poll(url, await approvedCode(url, operator));
  if (json.access_token === undefined) throw new Error(text);
  return json.access_token;
}

/** The secret of a management key that this operator made. */
export async function managementKeyOf(operator: Browser): Promise<string> {
  const { secret } = await operator.app("POST /operator/management-keys", {}, { name: "Deploy" });
  if (secret === null) throw new Error("no secret");
  return secret;
}
