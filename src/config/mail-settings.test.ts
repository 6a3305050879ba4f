import { expect, test } from "bun:test";
import { mail } from "./mail-settings.ts";

const SERVER = { host: "smtp.example.com", from: "alerts@example.com" };
const complaint = (over: object): string =>
  mail
    .safeParse({ ...SERVER, ...over })
    .error?.issues.map(({ message }) => message)
    .join("; ") ?? "accepted";

test("each kind of security has its port, and mails are encrypted by default", () => {
  expect(mail.parse(SERVER)).toEqual({
    host: "smtp.example.com",
    port: 587,
    security: "starttls",
    signIn: null,
    from: { address: "alerts@example.com", name: "Tollgate" },
  });
  expect(mail.parse({ ...SERVER, security: "tls" }).port).toBe(465);
  expect(mail.parse({ ...SERVER, security: "none" }).port).toBe(25);
  expect(mail.parse({ ...SERVER, port: 2525 }).port).toBe(2525);
});

test("a password is not sent to another machine unencrypted", () => {
  const signIn = { user: "u", password: "p" };
  expect(complaint({ security: "none", ...signIn })).toContain("must be starttls or tls");
  for (const host of ["127.0.0.1", "localhost", "::1"])
    expect(complaint({ host, security: "none", ...signIn })).toBe("accepted");
  expect(complaint({ host: "127.0.0.1.evil.example", security: "none", ...signIn })).toContain("must be");
});

test.each([
  [{ user: "u" }, "must be set together"],
  [{ password: "p" }, "must be set together"],
  [{ from: "Tollgate <alerts@example.com>" }, "must be a mail address"],
  [{ from: "a@b.example\r\nBcc: c@d.example" }, "must be a mail address"],
  [{ host: "smtp.example.com/x" }, "must be a host"],
  [{ port: 0 }, ">=1"],
  [{ tls: true }, "tls"],
])("%j is refused with a reason", (over, reason) => expect(complaint(over)).toContain(reason));
