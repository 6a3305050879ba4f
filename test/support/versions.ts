// Rows that several people edit: where each route's row is read, and how to change it in its current version.
import type { AppAnswer, AppRoute } from "../../src/api/client.ts";
import type { Browser } from "./browser.ts";
import { PLAIN } from "./models.ts";

/** A person's own name and views, which nobody else changes. */
type Own = "PATCH /profile" | "PUT /orgs/{org}/usage/views";
export type EditRoute = Exclude<Extract<AppRoute, `${"PATCH" | "PUT"} ${string}`>, Own>;

type Params = Record<string, string>;
interface Row {
  version: string;
}

const found = <T>(row: T | undefined): T => {
  if (row === undefined) throw new Error("there is no such row to edit");
  return row;
};

/** The row that a route changes, as its page reads it. */
export const READ: Record<EditRoute, (browser: Browser, params: Params) => Promise<Row>> = {
  "PATCH /orgs/{org}/keys/{key}": (browser, params) => browser.app("GET /orgs/{org}/keys/{key}", params),
  "PATCH /orgs/{org}/limits": async (browser, params) => {
    const { data } = await browser.app("GET /orgs/{org}/limits", params);
    return found(data[0]);
  },
  "PATCH /orgs/{org}/settings": (browser, params) => browser.app("GET /orgs/{org}/settings", params),
  "PATCH /orgs/{org}/team/{member}": async (browser, params) => {
    const { data } = await browser.app("GET /orgs/{org}/team", params);
    return found(data.find(({ person }) => person.id === params["member"]));
  },
  "PUT /orgs/{org}/billing/auto-top-up": (browser, params) =>
    browser.app("GET /orgs/{org}/billing/auto-top-up", params),
  "PUT /orgs/{org}/alerts/rules/{rule}": async (browser, params) => {
    const { data } = await browser.app("GET /orgs/{org}/alerts/rules", params);
    return found(data.find(({ id }) => id === params["rule"]));
  },
  "PATCH /operator/limits": (browser) =>
    browser.app("GET /operator/limits", {}, undefined, `?model=${PLAIN.model}`),
  "PATCH /operator/organizations/{org}": async (browser, params) => {
    const { data } = await browser.app(
      "GET /operator/organizations",
      {},
      undefined,
      `?search=${params["org"]}`,
    );
    return found(data[0]);
  },
};

/** Fails the test if it is refused. */
export async function edit<R extends EditRoute>(
  browser: Browser,
  route: R,
  params: Params,
  body: object,
): Promise<AppAnswer<R>> {
  const { version } = await READ[route](browser, params);
  return await browser.app(route, params, { ...body, version });
}
