// The dashboard is built on its first request, which takes as long as the machine needs: no request is cut off
// meanwhile, and a browser is told what is happening.
import { expect, test } from "bun:test";
import { AccessLog } from "../../src/http/access-log.ts";
import { ClientAddress } from "../../src/http/client-address.ts";
import { Cors } from "../../src/http/cors.ts";
import { type Assets, dashboardRoutes } from "../../src/http/dashboard.ts";
import { Router } from "../../src/http/router.ts";
import { listen } from "../../src/http/server.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import { sharedBrowser } from "../browser/chromium.ts";

/** Twice the silence that a socket may have, which is counted in steps of four seconds. */
const BUILD_MS = 10_000;

const asset = { type: "text/html", bytes: new TextEncoder().encode("built"), gzipped: null, etag: '"1"' };
const ASSETS: Assets = new Map([
  ["index.html", asset],
  ["assets/a.js", asset],
]);

function serving(built: () => Promise<Assets>): { url: string; stop(this: void): Promise<void> } {
  const metrics = { responded: () => {}, unkeyedRetry: () => {} };
  const server = listen({
    host: "127.0.0.1",
    port: 0,
    share: null,
    router: new Router(dashboardRoutes({ assets: built }), () => "http://127.0.0.1/v1"),
    cors: new Cors([], []),
    clock: systemClock,
    access: new AccessLog(createLog("silent"), systemClock, metrics),
    clients: new ClientAddress([]),
    headerTimeoutMs: 1_000,
    keepAliveMs: 1_000,
    maxBodyBytes: 1_000,
    failed: () => {},
    refused: () => {},
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop("cut") };
}

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

test("the page and its files wait for a build that takes longer than the time for headers", async () => {
  const built = Bun.sleep(BUILD_MS).then(() => ASSETS);
  const { url, stop } = serving(() => built);
  try {
    const answers = await Promise.all(
      ["/", "/assets/a.js"].map(async (path) => (await fetch(`${url}${path}`)).text()),
    );
    expect(answers).toEqual(["built", "built"]);
  } finally {
    await stop();
  }
}, 120_000);

test("a browser gets a page at once that says the build is running and polls, and then the dashboard", async () => {
  const gate = Promise.withResolvers<Assets>();
  const { url, stop } = serving(() => gate.promise);
  const look = async () => {
    const answer = await fetch(`${url}/welcome`, { headers: BROWSER });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  try {
    const first = await look(); // nothing is built before the gate opens
    expect([first.status, first.headers.get("retry-after"), first.headers.get("cache-control")]).toEqual([
      503,
      "1",
      "no-store",
    ]);
    expect(first.text).toContain("The dashboard is being built");
    expect(first.headers.get("refresh")).toBe("2");
    gate.resolve(ASSETS);
    expect(await look()).toMatchObject({ status: 200, text: "built" });
  } finally {
    await stop();
  }
});

// Only scripts read what follows a #; without them a browser takes it for a place on the same page.
test.each([
  { javaScriptEnabled: true, path: "/welcome#token=secret" },
  { javaScriptEnabled: false, path: "/welcome" },
])(
  "in a real browser the page turns into the dashboard at the same address: %j",
  async ({ javaScriptEnabled, path }) => {
    const gate = Promise.withResolvers<Assets>();
    const { url, stop } = serving(() => gate.promise);
    const context = await (await sharedBrowser()).newContext({ javaScriptEnabled });
    try {
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (said) => {
        if (said.type() === "error" && !said.text().includes("503")) complaints.push(said.text());
      });
      await page.goto(`${url}${path}`);
      await page.getByText("The dashboard is being built").waitFor();
      setTimeout(() => gate.resolve(ASSETS), 1_500);
      await page.getByText("built", { exact: true }).waitFor();
      expect([page.url(), complaints]).toEqual([`${url}${path}`, []]);
    } finally {
      await context.close();
      await stop();
    }
  },
  120_000,
);

test("a failed build is reported to a browser as a page, and to a program in JSON", async () => {
  const { url, stop } = serving(() => Promise.reject(new Error("no room")));
  try {
    const page = await fetch(url, { headers: BROWSER });
    expect([page.status, page.headers.get("content-type")]).toEqual([500, "text/html; charset=utf-8"]);
    expect(await page.text()).toContain("This page cannot be shown");
    const json = await fetch(url);
    expect([json.status, json.headers.get("content-type")]).toEqual([500, "application/json"]);
  } finally {
    await stop();
  }
});

test("a browser at an unknown address gets a page that links to the dashboard; a program gets JSON", async () => {
  const { url, stop } = serving(async () => ASSETS);
  try {
    for (const path of ["/nowhere", "/%3Cscript%3Ealert(1)%3C/script%3E", "/nowhere?x=<b>"]) {
      const page = await fetch(`${url}${path}`, { headers: BROWSER });
      const text = await page.text();
      expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
      expect(text).toContain("There is no page at this address");
      expect(text).toContain('<a href="/">Open the dashboard</a>');
      expect(text).toContain("http://127.0.0.1/v1");
      expect(text).not.toContain("<script");
    }
    for (const [path, headers] of [
      ["/nowhere", {}],
      ["/nowhere", { accept: "application/json" }],
      ["/v1/nowhere", BROWSER],
      ["/v1", BROWSER],
      ["/assets/none.js", BROWSER],
    ] as const) {
      const answer = await fetch(`${url}${path}`, { headers });
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        404,
        "application/json",
      ]);
    }
    expect(
      (await fetch(`${url}/nowhere`, { method: "POST", headers: BROWSER })).headers.get("content-type"),
    ).toBe("application/json");
  } finally {
    await stop();
  }
});
