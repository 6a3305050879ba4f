// Serves the dashboard's files: hashed ones cached for ever, the page and its first files revalidated each time. All are gzipped
// and behind a Content-Security-Policy that lets nothing run or load that we did not ship.
import { Refusal } from "../domain/refusals.ts";
import type { Handler, HttpContext } from "./context.ts";
import { buildingPage, wantsPage } from "./plain-page.ts";
import type { Route } from "./router.ts";

export interface Asset {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer> | null;
  etag: string;
}

/** The built dashboard: path without leading slash → file. Must hold `index.html`. */
export type Assets = ReadonlyMap<string, Asset>;

/** Mantine writes its variables into a style element; scripts come from our own files only. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join("; ");

const PAGE_HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
  "x-frame-options": "DENY",
};

/** A name with a content hash; any other name may have different content in each version. */
const HASHED = /-[0-9a-z]{8}\.\w+$/;
const FOR_EVER = "public, max-age=31536000, immutable";

/** Paths that return the page; the page's own router does the rest. */
const PAGES = [
  "/",
  "/sign-in",
  "/welcome",
  "/device",
  "/invitation",
  "/reset",
  "/o/*",
  "/operator",
  "/operator/*",
];

const SOON_MS = 400;

/** A browser that asks for a page during the build gets a page that says so. */
export function dashboardRoutes(ports: { assets: () => Promise<Assets> }): Route[] {
  const get = { methods: ["GET"], door: "public" } as const;
  // Programs and files wait for the build, however long it takes; a browser is told what is happening.
  const built = (context: HttpContext): Promise<Assets> => {
    context.setIdleTimeout(0);
    return ports.assets();
  };
  const page: Handler = async (context) => {
    const assets = wantsPage(context.request) ? await soon(built(context)) : await built(context);
    if (assets === null) return buildingPage(context);
    const asset = assets.get("index.html");
    if (asset === undefined) throw new Error("the built dashboard has no index.html");
    return reply(context, asset, { ...PAGE_HEADERS, "cache-control": "no-cache" });
  };
  const file: Handler = async (context) => {
    const asset = (await built(context)).get(`assets/${context.rest}`);
    if (asset === undefined) throw new Refusal("unknown_url", "The dashboard has no such file.");
    return reply(context, asset, { "cache-control": HASHED.test(context.rest) ? FOR_EVER : "no-cache" });
  };
  return [
    ...PAGES.map((path) => ({ path, ...get, page: true as const, handler: page })),
    { path: "/assets/*", ...get, handler: file },
  ];
}

/** Null if it takes longer than a person looks at an empty window without wondering. */
const soon = (assets: Promise<Assets>): Promise<Assets | null> =>
  Promise.race([assets, Bun.sleep(SOON_MS).then(() => null)]);

function reply(context: HttpContext, asset: Asset, also: Record<string, string>): Response {
  const { headers: asked } = context.request;
  const headers: Record<string, string> = {
    ...also,
    etag: asset.etag,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-request-id": context.requestId,
  };
  if (asked.get("if-none-match")?.includes(asset.etag)) return new Response(null, { status: 304, headers });
  headers["content-type"] = asset.type;
  const gzip = asset.gzipped !== null && /\bgzip\b/.test(asked.get("accept-encoding") ?? "");
  if (gzip) headers["content-encoding"] = "gzip";
  return new Response(gzip ? asset.gzipped : asset.bytes, { headers });
}
