// The two calls of a terminal login (RFC 8628): requests a pair of codes, then polls until someone decides. Retries
// while the gateway is unreachable: the codes are in its store.
import {
  DEVICE_CLIENT,
  DEVICE_CODE_PATH,
  DEVICE_GRANT,
  DEVICE_TOKEN_PATH,
} from "../src/domain/device-words.ts";
import type { DeviceCodeJson, DeviceTokenJson } from "../src/api/shapes/devices.ts";
import { messageOf } from "../src/domain/error-message.ts";
import { passByProxy } from "./gateway.ts";
import { Problem } from "./problem.ts";
import { say } from "./report.ts";

export type Asked = DeviceCodeJson;

const TIMEOUT_MS = 20_000;
const SLOWER_S = 5;

interface Answer {
  status: number;
  /** Null if the body is not JSON. */
  json: unknown;
}

export async function askForCodes(address: string, about: { host: string; version: string }): Promise<Asked> {
  const { status, json } = await post(`${address}${DEVICE_CODE_PATH}`, {
    client_id: DEVICE_CLIENT,
    ...about,
  });
  if (status === 200 && typeof (json as Partial<Asked> | null)?.device_code === "string")
    return json as Asked;
  const { message } = (json as { error?: { message?: string } } | null)?.error ?? {};
  throw new Problem(
    message ?? `${address} answered ${status} without login codes.`,
    status === 429
      ? "Wait a minute, then try again."
      : "Check that --url names a Tollgate gateway of this version.",
  );
}

/** Polls until someone decides or the codes expire. */
export async function waitForKey(address: string, asked: Asked): Promise<DeviceTokenJson> {
  const lateAtMs = performance.now() + asked.expires_in * 1000;
  const body = { client_id: DEVICE_CLIENT, grant_type: DEVICE_GRANT, device_code: asked.device_code };
  const stopTelling = tellWaiting(lateAtMs);
  try {
    for (let interval = asked.interval; performance.now() < lateAtMs; ) {
      await Bun.sleep(interval * 1000);
      const answer = await post(`${address}${DEVICE_TOKEN_PATH}`, body).catch(away);
      if (answer?.status === 200) return answer.json as DeviceTokenJson;
      const code = (answer?.json as { error?: unknown } | null | undefined)?.error;
      if (code === "slow_down") interval += SLOWER_S;
      else if (typeof code === "string" && code !== "authorization_pending") throw refused(code);
    }
  } finally {
    stopTelling();
  }
  throw refused("expired_token");
}

function refused(code: string): Problem {
  const again = "Start again with ./tollgate login.";
  if (code === "access_denied") return new Problem("The login was declined.", again);
  if (code === "expired_token")
    return new Problem("Nobody approved the login within its ten minutes.", again);
  return new Problem(`The gateway no longer knows this login (${code}).`, again);
}

/** Makes the poll try again if the gateway cannot be reached. */
function away(error: unknown): null {
  if (error instanceof Problem) return null;
  throw error;
}

/** Counts down the time left on a terminal; otherwise prints one line. */
function tellWaiting(lateAtMs: number): () => void {
  if (!process.stderr.isTTY) {
    say("Waiting for an operator's approval.");
    return () => {};
  }
  const tell = (): void => {
    const seconds = Math.max(0, Math.round((lateAtMs - performance.now()) / 1000));
    const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    process.stderr.write(`\rWaiting for an operator's approval, ${left} left. Ctrl-C gives up. `);
  };
  tell();
  const timer = setInterval(tell, 1000);
  return () => {
    clearInterval(timer);
    process.stderr.write("\n");
  };
}

async function post(url: string, body: object): Promise<Answer> {
  passByProxy(new URL(url));
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, json: parse(await response.text()) };
  } catch (error) {
    const reason = messageOf(error);
    throw new Problem(
      `No gateway answers at ${new URL(url).origin}: ${reason}`,
      "Start it with ./tollgate serve, or name another one with --url.",
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // some other server answers there: its status says enough
  }
}
