// A terminal that logs in, by its HTTP calls.
import type { DeviceCodeJson, DeviceTokenJson } from "../../src/api/shapes/devices.ts";

export interface Polled {
  status: number;
  headers: Headers;
  text: string;
  json: Partial<DeviceTokenJson & DeviceCodeJson> & { error?: string };
}

export async function postJson(
  url: string,
  body: object,
  also: Record<string, string> = {},
): Promise<Polled> {
  const headers = { "content-type": "application/json", ...also };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

/** Requests codes. Fails the test if they are refused. */
export async function askForCodes(url: string, host = "laptop"): Promise<DeviceCodeJson> {
  const { status, text } = await postJson(`${url}/device/code`, {
    client_id: "tollgate-cli",
    host,
    version: "0.1.0",
  });
  if (status !== 200) throw new Error(text);
  return JSON.parse(text) as DeviceCodeJson;
}

export const poll = (url: string, device_code: string): Promise<Polled> =>
  postJson(`${url}/device/token`, {
    client_id: "tollgate-cli",
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code,
  });
