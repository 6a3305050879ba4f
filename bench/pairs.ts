// Answers `GET /run?flying=64&ms=800` in a process that does nothing else: keeps that many pairs of an admission and
// its settlement in flight for that long, and returns how many finished.
import type { Release } from "../src/domain/release.ts";

/** The product's record of the single call of an ordinary answer. */
export const answeredAttempt = ({ route, provider }: Pick<Release, "route" | "provider">) => ({
  n: 1,
  route,
  provider,
  startedAtMs: Date.now(),
  durationMs: 3,
  outcome: "answered" as const,
  upstreamId: "chatcmpl-bench",
  upstreamStatus: 200,
  errorClass: null,
});

/**
 * Serves until the process ends, and prints its port to stdout. `of` makes the repeated work of one run, from the
 * rest of the query.
 */
export function servePairs(of: (asked: URLSearchParams) => Promise<() => Promise<void>>): void {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    routes: {
      "/run": async (request) => {
        const asked = new URL(request.url).searchParams;
        const number = (name: string): number => Number(asked.get(name) ?? 1);
        const pair = await of(asked);
        const untilMs = performance.now() + number("ms");
        let pairs = 0;
        // Pairs that ended within the time; those in flight at its end are finished and counted.
        const one = async (): Promise<void> => {
          while (performance.now() < untilMs) {
            await pair();
            pairs += 1;
          }
        };
        await Promise.all(Array.from({ length: number("flying") }, one));
        return Response.json({ pairs });
      },
    },
  });
  console.log(`ready ${server.port}`);
}
