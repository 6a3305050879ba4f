// A refusal that comes before its request's body has ended. The parser below us closes a connection that is not kept open as soon as
// it is answered, and a system that still gets bytes then resets it: the client, or the proxy before it, would never read why.
import { giveBack } from "./give-back.ts";

/** For how long the rest of such a body is taken, milliseconds: as long as a whole one may take. */
const LINGER_MS = 30_000;
/** What does not come for so long is not coming before the answer. */
const SILENCE_MS = 2_000;

const CLOSES = /(?:^|,)\s*close\s*(?:,|$)/i;

/**
 * Resolves when a refusal can be sent so that it arrives: where the connection ends with it, behind the body, which is read and
 * forgotten; else at once, for the parser drops the rest. Never rejects.
 */
export async function bodyPassed({ headers, bodyUsed, body }: Request): Promise<void> {
  if (body === null || body.locked) return; // read whole
  const closes = CLOSES.test(headers.get("connection") ?? "");
  if (!closes && !bodyUsed) return;
  const reader = body.getReader();
  const until = performance.now() + LINGER_MS;
  const silence = setTimeout(() => void reader.cancel().catch(() => undefined), SILENCE_MS); // a read tells what broke it
  try {
    while (closes && performance.now() < until) {
      const { done, value } = await reader.read();
      if (done) return;
      giveBack(value);
      silence.refresh();
    }
    await reader.cancel();
  } catch {
    return; // the client broke it off, and reads no answer
  } finally {
    clearTimeout(silence);
  }
}
