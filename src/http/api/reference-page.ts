// The reference page at `/admin/v1/docs`: Scalar's standalone script, served from here (no CDN) under a strict
// content security policy. It shows the OpenAPI document, which holds no secrets.
import { Refusal } from "../../domain/refusals.ts";
import { ownFile } from "../../lib/program.ts";

const SCRIPT = ownFile("node_modules/@scalar/api-reference/dist/browser/standalone.js");

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'", // the script writes its styles into the page
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const OPTIONS = JSON.stringify({
  withDefaultFonts: false,
  proxyUrl: "",
  telemetry: false,
  hideClientButton: true,
});

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Tollgate operator API</title></head>
<body>
<script id="api-reference" data-url="/admin/v1/openapi.json" data-configuration='${OPTIONS}'></script>
<script src="/admin/v1/docs/reference.js"></script>
</body>
</html>
`;

/** The page itself. Throws 404 if development packages are not installed. */
export async function referencePage(): Promise<Response> {
  await script();
  return new Response(PAGE, {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
  });
}

/** The page's script. Throws 404 as the page does. */
export async function referenceScript(): Promise<Response> {
  return new Response(await script(), {
    headers: { "content-type": "text/javascript; charset=utf-8", "cache-control": "public, max-age=86400" },
  });
}

async function script(): Promise<Bun.BunFile> {
  const file = Bun.file(SCRIPT);
  if (await file.exists()) return file;
  throw new Refusal(
    "unknown_url",
    "The reference page is not part of `npm start`, only of the executable that `npm run build` makes. The document that it shows is at /admin/v1/openapi.json.",
  );
}
