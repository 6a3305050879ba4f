// Live tails over HTTP: one person's pages cannot block the others', and a closed page frees its place.
import { afterAll, beforeAll, expect, setSystemTime, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { DAY_MS, waitFor } from "../support/wait.ts";

let gateway: TestGateway;
let root: Browser;
beforeAll(async () => {
  gateway = await startGateway();
  root = await firstOperator(gateway);
});
afterAll(() => gateway.stop());

const organization = async (name: string): Promise<{ org: string; viewer: Browser }> => {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name });
  const viewer = await newMember(root, gateway, { org, role: "viewer", email: `${name}@example.com` });
  return { org, viewer };
};

interface Page {
  status: number;
  code: string | null;
  retryAfter: string | null;
  close(): void;
}

async function follow(browser: Browser, org: string): Promise<Page> {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/app/v1/orgs/${org}/activity/tail`, {
    headers: { cookie: browser.cookie },
    signal: leaving.signal,
  });
  const refused = response.status === 200 ? null : ((await response.json()) as { error: { code: string } });
  return {
    status: response.status,
    code: refused?.error.code ?? null,
    retryAfter: response.headers.get("retry-after"),
    close: () => leaving.abort(),
  };
}

test("four of one viewer's hundred pages are followed, and everyone else is served", async () => {
  const { org, viewer } = await organization("greedy");
  const colleague = await newMember(root, gateway, { org, role: "viewer", email: "colleague@example.com" });
  const other = await organization("other");
  const pages = await Promise.all(Array.from({ length: 100 }, () => follow(viewer, org)));
  const open = pages.filter(({ status }) => status === 200);
  expect(open).toHaveLength(4);
  const refused = pages.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status, code, retryAfter }) => `${status} ${code} ${retryAfter}`))).toEqual(
    new Set(["429 rate_limit_exceeded 10"]),
  );
  const others = [await follow(colleague, org), await follow(other.viewer, other.org)];
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  for (const page of [...open, ...others]) page.close();
  await waitFor(async () => {
    const again = await follow(viewer, org);
    again.close();
    return again.status === 200;
  }, "a place of a page that was closed");
});

test("a removed member is sent nothing more, even if the clock is put back at that moment", async () => {
  const { org, viewer } = await organization("set-back");
  const owner = await newMember(root, gateway, { org, role: "owner", email: "set-back-owner@example.com" });
  const tail = await fetch(`${gateway.url}/app/v1/orgs/${org}/activity/tail`, {
    headers: { cookie: viewer.cookie },
    signal: AbortSignal.timeout(20_000),
  });
  const { person } = await viewer.app("GET /session");
  await owner.app("DELETE /orgs/{org}/team/{member}", { org, member: person?.id ?? "" });
  setSystemTime(new Date(Date.now() - DAY_MS));
  try {
    expect(await tail.text()).toStartWith("retry:");
  } finally {
    setSystemTime();
  }
}, 30_000);
