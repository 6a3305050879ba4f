// `mail`: the operator's mail server, for alerts (docs/alerts.md) and invitations. Without it, no mail is sent.
import { z } from "zod";
import { isMailAddress } from "../domain/mail-address.ts";
import { nonEmpty } from "./setting-values.ts";

/** The default port for each kind of security. */
const USUAL_PORTS = { tls: 465, starttls: 587, none: 25 } as const;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

export const mail = z
  .strictObject({
    host: nonEmpty.max(255).regex(/^[\w.:-]+$/, "must be a host name or address"),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe("Default: 465 for tls, 587 for starttls, 25 for none."),
    security: z
      .enum(["starttls", "tls", "none"])
      .default("starttls")
      .describe(
        "tls: encrypted from the start; starttls: encrypted before anything is sent, or the mail is not sent at all.",
      ),
    user: nonEmpty.max(255).optional(),
    password: nonEmpty
      .max(1000)
      .optional()
      .describe("Write it as ${NAME}, so that it stays out of the file."),
    from: nonEmpty
      .refine(isMailAddress, "must be a mail address like alerts@example.com")
      .describe("The sender's address."),
    from_name: nonEmpty.max(100).default("Tollgate"),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    path: ["password"],
    message: "user and password must be set together",
  })
  .refine(
    ({ security, password, host }) => security !== "none" || password === undefined || LOOPBACK.test(host),
    { path: ["security"], message: "must be starttls or tls if a password is sent to another machine" },
  )
  .transform(({ host, port, security, user, password, ...written }) => ({
    host,
    port: port ?? USUAL_PORTS[security],
    security,
    signIn: user === undefined || password === undefined ? null : { user, password },
    from: { address: written.from, name: written.from_name },
  }));
