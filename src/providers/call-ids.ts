// Names and ids of tool calls as the vendor takes them: letters, digits, `_` and `-`, and each id once. Other upstreams,
// from which a conversation may come, are freer.
import { createHash } from "node:crypto";

const PLAIN = /^[A-Za-z0-9_-]{1,64}$/;

/** The name with `_` in the place of every other sign, 64 at most; one that is plain stays the very same. */
export const plainName = (name: string): string =>
  PLAIN.test(name) ? name : name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);

/** The ids of one conversation. */
export class CallIds {
  /** How often each was asked for. */
  private readonly asked = new Map<string, number>();
  private readonly used = new Set<string>();

  /** An id that no call before had; the same conversation gives the same ids. */
  next(id: string): string {
    const plain = PLAIN.test(id) ? id : hashed(id);
    let times = this.asked.get(plain) ?? 0;
    let own = plain;
    do {
      own = times === 0 ? plain : hashed(`${plain} ${times}`);
      times += 1;
    } while (this.used.has(own));
    this.asked.set(plain, times);
    this.used.add(own);
    return own;
  }
}

const hashed = (text: string): string =>
  `toolu_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
