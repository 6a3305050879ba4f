// Names and ids of tool calls as the vendor accepts them: letters, digits, `_` and `-`, and each id once. A
// conversation may come from another upstream that is less strict.
import { createHash } from "node:crypto";

const PLAIN = /^[A-Za-z0-9_-]{1,64}$/;

/** Returns the name with every other character replaced by `_`, cut to 64. A plain name is returned unchanged. */
export const plainName = (name: string): string =>
  PLAIN.test(name) ? name : name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);

/** The ids of one conversation. */
export class CallIds {
  /** How often each id was requested. */
  private readonly asked = new Map<string, number>();
  private readonly used = new Set<string>();

  /** Returns an id that no earlier call has. The same conversation always gives the same ids. */
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
