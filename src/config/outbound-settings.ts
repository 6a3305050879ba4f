// `outbound`: how the gateway reaches others where its network has no direct way out (docs/operations.md).
import { z } from "zod";
import { isException, type OutboundProxy } from "../lib/outbound.ts";
import { nonEmpty, webUrl } from "./setting-values.ts";

export const outbound = z
  .strictObject({
    proxy: webUrl
      .refine((url) => new URL(url).pathname === "/", "must not have a path")
      .optional()
      .describe(
        "An HTTP proxy, e.g. http://proxy.example.com:3128, for every https:// address; http:// addresses are reached directly.",
      ),
    proxy_user: nonEmpty.max(255).optional(),
    proxy_password: nonEmpty
      .max(1000)
      .optional()
      .describe("Write it as ${NAME}, so that it stays out of the file."),
    no_proxy: z
      .array(
        nonEmpty.refine(
          isException,
          "must be a host name, which includes all names below it, an address, or a network like 10.0.0.0/8",
        ),
      )
      .default([])
      .describe("What is reached directly. This machine always is."),
  })
  .refine(
    ({ proxy_user: user, proxy_password: password }) => (user === undefined) === (password === undefined),
    {
      path: ["proxy_password"],
      message: "proxy_user and proxy_password must be set together",
    },
  )
  .refine(
    ({ proxy, proxy_user: user, no_proxy: except }) =>
      proxy !== undefined || (user === undefined && except.length === 0),
    { path: ["proxy"], message: "is required beside the other settings of outbound" },
  )
  .transform(
    ({
      proxy,
      proxy_user: user,
      proxy_password: password,
      no_proxy: except,
    }): { proxy: OutboundProxy | null } => ({
      proxy: proxy === undefined ? null : { url: withCredentials(proxy, user, password), except },
    }),
  );

function withCredentials(proxy: string, user = "", password = ""): string {
  const url = new URL(proxy);
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(password);
  return url.href;
}
