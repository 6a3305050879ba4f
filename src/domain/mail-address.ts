// What counts as a mail address that this gateway writes to: the plain form that every server accepts. No quotes, comments, blanks
// or line ends, so that no header or SMTP command can be read as more than an address.

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** At most 254 ASCII characters in all, 64 of them before the `@`. Anything else, quoted or international, is not accepted. */
export function isMailAddress(text: string): boolean {
  if (text.length > 254) return false;
  const at = text.lastIndexOf("@");
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && local.length <= 64 && LOCAL.test(local) && DOMAIN.test(domain);
}
