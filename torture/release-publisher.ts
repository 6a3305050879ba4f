// Signs and publishes the releases of the run, one after another, and remembers the prices of each: requests name the
// release that they were priced by.
import { DAY_MS } from "../src/domain/durations.ts";
import { parseManifest } from "../src/releases/manifest.ts";
import type { ReleaseKey } from "../src/releases/release-key.ts";
import { signRelease } from "../src/releases/signature.ts";
import type { History, ReleaseFacts } from "./history.ts";
import { manifestsOf, type Model, NANO_PER_TOKEN } from "./models.ts";
import { asked, type Operator } from "./operator.ts";

export interface Terms {
  nanoPerToken: bigint;
  expiresInMs: number;
}

export class ReleasePublisher {
  private readonly versions = new Map<string, number>();
  private working: Promise<void> = Promise.resolve();

  constructor(
    private readonly operator: Operator,
    private readonly history: History,
    private readonly key: ReleaseKey,
  ) {}

  /** Publishes the next version of each route of the model. */
  publish(
    model: Model,
    terms: Terms = { nanoPerToken: NANO_PER_TOKEN, expiresInMs: 30 * DAY_MS },
  ): Promise<void> {
    const mine = this.working.then(() => this.next(model, terms));
    this.working = mine.catch(() => undefined);
    return mine;
  }

  /** Publishes version 1 again, newly signed; rejects unless it is refused: the highest version never goes down. */
  async publishOlder(model: Model): Promise<void> {
    for (const manifest of manifestsOf(model)) {
      const nowMs = Date.now();
      const jws = await signRelease(parseManifest(manifest), this.key, { expiresInMs: 30 * DAY_MS, nowMs });
      const { status, json } = await this.operator.call("POST", "/releases", { jws });
      if (status < 400) throw new Error(`version 1 was accepted again: ${JSON.stringify(json)}`);
    }
  }

  private async next(model: Model, { nanoPerToken, expiresInMs }: Terms): Promise<void> {
    const version = (this.versions.get(model.name) ?? 0) + 1;
    this.versions.set(model.name, version);
    for (const manifest of manifestsOf(model, { version, nanoPerToken })) {
      const parsed = parseManifest(manifest);
      const nowMs = Date.now();
      const jws = await signRelease(parsed, this.key, { expiresInMs, nowMs });
      const facts: ReleaseFacts = {
        ...asked(),
        model: model.name,
        route: parsed.route,
        version,
        nanoPerToken,
        expiresAtMs: (Math.floor(nowMs / 1000) + Math.floor(expiresInMs / 1000)) * 1000, // a JWS counts in seconds
        digest: null,
      };
      this.history.releases.push(facts);
      await this.hand(facts, jws);
    }
  }

  /** A release that expired before it could be published is refused, and nothing changes. */
  private async hand(facts: ReleaseFacts, jws: string): Promise<void> {
    const { status, json } = await this.operator.call("POST", "/releases", { jws });
    if (status < 300) {
      facts.ackedMs = Date.now();
      facts.digest = String(json["digest"]);
    } else if (Date.now() < facts.expiresAtMs)
      throw new Error(`a release was refused: ${JSON.stringify(json)}`);
  }
}
