// Live tails over HTTP: one person's pages cannot shut out the others, and a page that is closed gives its place back.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

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

test("one viewer with a hundred pages has four of them followed, and everybody else is served", async () => {
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
