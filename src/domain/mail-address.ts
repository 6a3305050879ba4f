// What counts as a mail address where this gateway writes to one: the plain form that every server takes. No quotes, no
// comments, no blanks, no line ends: nothing that a header or a command of SMTP could read as more than an address.

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** At most 254 ASCII characters in all, 64 of them before the `@`; anything else, quoted or international, is none. */
export function isMailAddress(text: string): boolean {
  if (text.length > 254) return false;
  const at = text.lastIndexOf("@");
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && local.length <= 64 && LOCAL.test(local) && DOMAIN.test(domain);
}
