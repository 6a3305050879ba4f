// Short names of browsers in the list of sessions: names that browsers claim for compatibility do not mislead it.
import { expect, test } from "bun:test";
import { formatAgent } from "../../dashboard/format/agent.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

for (const [agent, name] of [
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/153.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [`Mozilla/5.0 (Linux; Android 16) ${WEBKIT} Chrome/153.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/153.0 Safari/537.36 Edg/153.0`,
    "Edge on Windows",
  ],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/19.0 Safari/605.1.15", "Safari on macOS"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1", "Safari on iOS"],
  ["Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0", "Firefox on Linux"],
  ["curl/8.9.1", "curl/8.9.1"],
  [null, "Unknown browser"],
] as const)
  test(`${agent ?? "nothing"} is ${name}`, () => {
    expect(formatAgent(agent)).toBe(name);
  });
