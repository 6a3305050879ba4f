// Small pages for a browser where the dashboard has none: while it is built, and for unknown addresses. They load nothing, and API
// clients still get JSON.
import { createHash } from "node:crypto";
import type { Refusal } from "../domain/refusals.ts";
import type { HttpContext } from "./context.ts";

/** A browser that opens an address asks for HTML; API clients accept anything, or JSON. */
export const wantsPage = ({ method, headers }: Request): boolean =>
  (method === "GET" || method === "HEAD") && /\btext\/html\b/.test(headers.get("accept") ?? "");

/** Faster than the refresh header, and keeps the part after a link's `#` in every browser. */
const RELOAD = "setTimeout(() => location.reload(), 1000)";
const RELOAD_DIGEST = createHash("sha256").update(RELOAD).digest("base64");

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center}
main{max-width:34rem;padding:1.5rem;box-sizing:border-box}
h1{font-size:1.25rem;margin:0 0 .5rem}
p{margin:.5rem 0;overflow-wrap:anywhere}
small{opacity:.7}`;

/** The dashboard is not ready; this page reloads by itself, with scripts or without. */
export const buildingPage = ({ requestId }: Pick<HttpContext, "requestId">): Response =>
  pageOf(
    {
      title: "The dashboard is being built",
      head: `<script>${RELOAD}</script>`,
      body: `<p>The gateway is running and accepts requests. Its dashboard is built from source when it is first opened,
which takes a few seconds, once per version.</p><p>This page shows it as soon as it is ready.</p>`,
    },
    { status: 503, headers: { refresh: "2", "retry-after": "1", "x-request-id": requestId } },
  );

/** A refusal for a person who opened an address by hand: its message, and a link to the dashboard. */
export const refusalPage = (requestId: string, { status, message, code }: Refusal): Response =>
  pageOf(
    {
      title: code === "unknown_url" ? "There is no page at this address" : "This page cannot be shown",
      head: "",
      body: `<p>${Bun.escapeHTML(message)}</p><p><a href="/">Open the dashboard</a></p><p><small>${requestId}</small></p>`,
    },
    { status, headers: { "x-request-id": requestId } },
  );

function pageOf(
  { title, head, body }: Record<"title" | "head" | "body", string>,
  { status, headers }: { status: number; headers: Record<string, string> },
): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Tollgate</title><link rel="icon" href="data:,"><style>${STYLE}</style>${head}</head>
<body><main><h1>${title}</h1>${body}</main></body></html>
`;
  return new Response(html, {
    status,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": `default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-${RELOAD_DIGEST}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
    },
  });
}
