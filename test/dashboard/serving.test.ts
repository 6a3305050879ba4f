// How the gateway serves the dashboard: headers, caches, budgets; over HTTP, with the real build.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const page = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(gateway.url + path, { headers, redirect: "manual" });
const filesOf = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);

test("every address of the dashboard answers with the page, including deep links", async () => {
  for (const path of [
    "/",
    "/sign-in",
    "/o/org_1",
    "/o/org_1/keys",
    "/operator",
    "/operator/",
    "/operator/health",
    "/o/x/activity?req=req_1",
  ]) {
    const response = await page(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(await response.text()).toContain('<div id="root">');
  }
});

test("anything that is not a page stays an error of the API", async () => {
  expect((await page("/nothing")).status).toBe(404);
  expect((await page("/assets/none.js")).status).toBe(404);
  expect((await page("/assets/..%2f..%2foperator.json")).status).toBe(404);
  expect((await page("/assets/index.html")).status).toBe(404);
});

test("the policy allows no inline script, and the page has none", async () => {
  const response = await page("/");
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const html = await response.text();
  expect(html.match(/<script\b[^>]*>[^<]/g)).toBeNull();
  expect(html).not.toMatch(/https?:\/\//);
});

test("the page is revalidated and answered with 304; hashed files are immutable, the file that every version has under one name is not", async () => {
  const first = await page("/");
  expect(first.headers.get("cache-control")).toBe("no-cache");
  const etag = first.headers.get("etag") ?? "";
  const again = await page("/", { "if-none-match": etag });
  expect(again.status).toBe(304);
  for (const path of filesOf(await first.text())) {
    const file = await page(path);
    expect(file.status).toBe(200);
    const isOfAll = path === "/assets/other-version.js";
    expect(file.headers.get("cache-control")).toBe(
      isOfAll ? "no-cache" : "public, max-age=31536000, immutable",
    );
  }
});

test("the first page stays inside its budget: 200 KB of script, 45 KB of style, gzipped", async () => {
  const sizes = { js: 0, css: 0 };
  for (const path of filesOf(await (await page("/")).text())) {
    const response = await fetch(gateway.url + path, {
      headers: { "accept-encoding": "gzip" },
      decompress: false,
    });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    const kind = path.endsWith(".js") ? "js" : "css";
    if (/\.(?:js|css)$/.test(path)) sizes[kind] += (await response.arrayBuffer()).byteLength;
  }
  expect(sizes.js).toBeGreaterThan(0);
  expect(sizes.js).toBeLessThan(200 * 1024);
  expect(sizes.css).toBeLessThan(45 * 1024);
});
