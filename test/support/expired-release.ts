import { decodeJwt } from "jose";
import type { TestGateway } from "./gateway.ts";
import type { TestManifest } from "./models.ts";

/** The first try's lifetime, milliseconds. A machine that needs longer to publish it gets more. */
const SHORTEST_MS = 2_000;
const LONGEST_MS = 60_000;

/** Publishes a release, and waits until it has expired. */
export async function publishExpired(gateway: TestGateway, manifest: TestManifest): Promise<void> {
  for (let expiresInMs = SHORTEST_MS; expiresInMs < LONGEST_MS; expiresInMs *= 2) {
    const jws = await gateway.sign(manifest, { expiresInMs });
    const { status, text } = await gateway.admin("POST", "/releases", { jws });
    const endsMs = (decodeJwt(jws).exp ?? 0) * 1000;
    if (status < 300) return await Bun.sleep(Math.max(0, endsMs - Date.now()) + 1);
    // It had expired before it arrived.
    if (Date.now() < endsMs) throw new Error(`publishing ${manifest.model}: ${text}`);
  }
  throw new Error(`no release of ${manifest.model} arrived before its end`);
}
