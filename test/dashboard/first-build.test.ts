// The dashboard is built at its first page, which takes as long as the machine needs: nobody's page is cut off meanwhile.
import { expect, test } from "bun:test";
import { AccessLog } from "../../src/http/access-log.ts";
import { ClientAddress } from "../../src/http/client-address.ts";
import { Cors } from "../../src/http/cors.ts";
import { type Assets, dashboardRoutes } from "../../src/http/dashboard.ts";
import { Router } from "../../src/http/router.ts";
import { listen } from "../../src/http/server.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";

/** Twice what a socket may be silent for, which is counted in steps of four seconds. */
const BUILD_MS = 10_000;

test("a build that takes longer than a header may is waited for, by the page and by a file of it", async () => {
  const asset = { type: "text/html", bytes: new TextEncoder().encode("built"), gzipped: null, etag: '"1"' };
  const assets: Assets = new Map([
    ["index.html", asset],
    ["assets/a.js", asset],
  ]);
  const built = Bun.sleep(BUILD_MS).then(() => assets);
  const metrics = { responded: () => {}, unkeyedRetry: () => {} };
  const server = listen({
    host: "127.0.0.1",
    port: 0,
    share: null,
    router: new Router(dashboardRoutes({ assets: () => built }), () => ""),
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
  try {
    const answers = await Promise.all(
      ["/", "/assets/a.js"].map(async (path) =>
        (await fetch(`http://127.0.0.1:${server.port}${path}`)).text(),
      ),
    );
    expect(answers).toEqual(["built", "built"]);
  } finally {
    await server.stop("cut");
  }
}, 60_000);
