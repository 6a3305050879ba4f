// Makes a change that is sent twice act once: the answer to an `Idempotency-Key` is stored for a day, without its secrets, for one
// person or management key and one route.
import { createHash } from "node:crypto";
import type { People } from "../people/people.ts";
import { Refusal } from "../domain/refusals.ts";

const KEY = /^[\x21-\x7e]{8,200}$/;
/** Fields that are sent only once (hardening.md S28). */
const SECRETS = ["secret", "link"];
/** How long a second click waits for the first one's answer. */
const WAIT_MS = 10_000;
const ASK_MS = 50;

interface Form {
  /** The person, or the management key. */
  by: string;
  /** Method and path. */
  target: string;
  key: string | null;
  body: string;
}

interface Answer {
  text: string;
  /** Whether the answer is that of an earlier form under this key, without the fields that are sent only once. */
  replayed: boolean;
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Returns the answer of `work`, or the stored one of an earlier form under the same key. Failures are not stored. */
export async function once(
  { answers }: Pick<People, "answers">,
  { by, target, key, body }: Form,
  work: () => Promise<string>,
): Promise<Answer> {
  if (key === null) return { text: await work(), replayed: false };
  if (!KEY.test(key))
    throw new Refusal(
      "invalid_idempotency_key",
      "Idempotency-Key must have 8 to 200 visible ASCII characters.",
      {
        param: "Idempotency-Key",
      },
    );
  const place = digestOf(JSON.stringify([by, target, key]));
  const fingerprint = digestOf(body);
  for (let waitedMs = 0; waitedMs <= WAIT_MS; waitedMs += ASK_MS) {
    const claimed = await answers.claim(place, fingerprint);
    if (claimed === "mine") return { text: await kept(answers, place, work), replayed: false };
    if (claimed.fingerprint !== fingerprint)
      throw new Refusal("idempotency_key_reused", "This Idempotency-Key was used with another body.");
    if (claimed.answer !== null) return { text: whole(claimed.answer), replayed: true };
    await Bun.sleep(ASK_MS);
  }
  throw new Refusal("idempotency_in_progress", "The same request is still running. Wait a moment.", {
    retryAfterMs: 1000,
  });
}

/** Returns the stored answer. A damaged one is refused, and its change is not made again. */
function whole(answer: string): string {
  try {
    JSON.parse(answer);
    return answer;
  } catch {
    throw new Refusal(
      "idempotency_result_not_retained",
      "The request with this Idempotency-Key was carried out, but its stored answer is damaged. Check what it did before you send it again with a new key.",
      { param: "Idempotency-Key" },
    );
  }
}

async function kept(answers: People["answers"], place: string, work: () => Promise<string>): Promise<string> {
  try {
    const text = await work();
    await answers.keep(place, withoutSecrets(text));
    return text;
  } catch (error) {
    await answers.forget(place);
    throw error;
  }
}

function withoutSecrets(text: string): string {
  if (!SECRETS.some((name) => text.includes(`"${name}"`))) return text;
  const answer = JSON.parse(text) as Record<string, unknown>;
  for (const name of SECRETS) if (name in answer) answer[name] = null;
  return JSON.stringify(answer);
}
