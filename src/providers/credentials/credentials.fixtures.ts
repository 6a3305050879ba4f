// A made-up service account, and a token server on a loopback port that answers as a test says.
import { spyOn } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { z } from "zod";
import { type ServiceAccountKey, serviceAccount } from "./service-account-key.ts";

const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
export const publicKey: KeyObject = pair.publicKey;
export const PEM = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

export const EMAIL = "gateway@project-7.iam.gserviceaccount.com";

/** Returns the text of a key file. */
export const keyText = (change: Record<string, unknown> = {}): string =>
  JSON.stringify({
    type: "service_account",
    project_id: "project-7",
    private_key_id: "key-1",
    private_key: PEM,
    client_email: EMAIL,
    token_uri: "https://oauth2.googleapis.com/token",
    universe_domain: "googleapis.com",
    ...change,
  });

export const keyFor = (tokenUri: string): ServiceAccountKey =>
  serviceAccount.parse(keyText({ token_uri: tokenUri }));

/** Returns the setting's complaint about a value; null if it is accepted. */
export const complaintOf = (given: unknown): string | null =>
  z.object({ service_account: serviceAccount }).safeParse({ service_account: given }).error?.issues[0]
    ?.message ?? null;

export interface TokenServer extends AsyncDisposable {
  url: string;
  /** The forms that were sent to it. */
  asked: URLSearchParams[];
  answer: (nth: number) => Response | Promise<Response>;
}

export const tokenReply = (value: string, expiresIn: unknown = 3600): Response =>
  Response.json({ access_token: value, expires_in: expiresIn, token_type: "Bearer" });

export function startTokenServer(answer: TokenServer["answer"]): TokenServer {
  const asked: URLSearchParams[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      asked.push(new URLSearchParams(await request.text()));
      return await running.answer(asked.length);
    },
  });
  const running: TokenServer = {
    url: `http://127.0.0.1:${server.port}/token`,
    asked,
    answer,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return running;
}

/** Advances the monotonic clock by this much, until `mock.restore()`. */
export function passes(ms: number): void {
  const now = performance.now.bind(performance);
  spyOn(performance, "now").mockImplementation(() => now() + ms);
}
