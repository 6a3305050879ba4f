// A form sent twice acts once: the answer to an `Idempotency-Key` is kept for a day, without its secrets, and belongs to
// one person and one route. Kept in this process: what changes money is idempotent in the ledger as well.
import { createHash } from "node:crypto";
import { Refusal } from "../../contract/refusals.ts";

const KEPT_MS = 86_400_000;
const KEPT_MAX = 10_000;
const KEY = /^[\x21-\x7e]{8,200}$/;
/** Fields that leave once (hardening.md S28). */
const SECRETS = ["secret", "link"];

interface Kept {
  fingerprint: string;
  untilMs: number;
  /** Without its secrets. */
  text: Promise<string>;
}

export class Remembered {
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly nowMs: () => number) {}

  /** The answer of `work`, or the kept one of an earlier call under the same key. Failures are not kept. */
  async once(
    call: { personId: string; target: string; key: string | null; body: string },
    work: () => Promise<string>,
  ): Promise<string> {
    if (call.key === null) return await work();
    if (!KEY.test(call.key))
      throw new Refusal(
        "invalid_idempotency_key",
        "Idempotency-Key takes 8 to 200 visible ASCII characters.",
        {
          param: "Idempotency-Key",
        },
      );
    const place = JSON.stringify([call.personId, call.target, call.key]);
    const fingerprint = createHash("sha256").update(call.body).digest("base64url");
    const found = this.kept.get(place);
    if (found !== undefined && found.untilMs > this.nowMs()) {
      if (found.fingerprint !== fingerprint)
        throw new Refusal("idempotency_key_reused", "This Idempotency-Key was used with another body.");
      return await found.text;
    }
    const running = work();
    const text = running.then(withoutSecrets);
    text.catch(() => this.kept.delete(place));
    this.keep(place, { fingerprint, untilMs: this.nowMs() + KEPT_MS, text });
    return await running;
  }

  private keep(place: string, kept: Kept): void {
    this.kept.delete(place);
    this.kept.set(place, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT_MAX && oldest !== undefined) this.kept.delete(oldest);
  }
}

function withoutSecrets(text: string): string {
  if (!SECRETS.some((name) => text.includes(`"${name}"`))) return text;
  const answer = JSON.parse(text) as Record<string, unknown>;
  for (const name of SECRETS) if (name in answer) answer[name] = null;
  return JSON.stringify(answer);
}
