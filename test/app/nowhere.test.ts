// Unknown names on the operator API: an empty list in answer to a typo would read as "nothing happened there". Every
// entry that reads an organization says if there is no such one; and a person can end only their own sessions.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { adminTargets } from "../support/endpoints.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let root: Browser;
let org: string;
beforeAll(async () => {
  gateway = await startGateway({ configure: (config) => (config.signIn.perMinute = 1000) });
  root = await firstOperator(gateway);
  org = (await gateway.customer()).organizationId;
});
afterAll(() => gateway.stop());

const NOWHERE = "org_doesnotexist";
const reading = adminTargets().filter(
  ({ method, query, path }) => method === "GET" && "org" in query.shape && !path.includes("{"),
);

test("there are entries to try", () => expect(reading.length).toBeGreaterThan(10));
for (const { path, query } of reading)
  test(`GET ${path} of an unknown organization is 404`, async () => {
    const month = "month" in query.shape ? "&month=2026-11" : "";
    const door = path.replace("/admin/v1", "");
    const known = await gateway.admin("GET", `${door}?org=${org}${month}`);
    expect(known.status).toBe(200);
    const { status, json } = await gateway.admin("GET", `${door}?org=${NOWHERE}${month}`);
    expect([status, json["error"]]).toMatchObject([404, { code: "not_found", param: "org" }]);
  });

test("a session of another person is treated as unknown, and goes on", async () => {
  const [one, other] = [
    await newMember(root, gateway, { org, role: "owner", email: "one@example.com" }),
    await newMember(root, gateway, { org, role: "viewer", email: "other@example.com" }),
  ];
  const { sessions } = await other.app("GET /profile");
  const id = sessions[0]?.id ?? "";
  const end = (session: string) => one.try("DELETE /profile/sessions/{session}", { session });
  const [real, madeUp] = [await end(id), await end("ses_doesnotexist")];
  expect([real.status, real.json.error.code]).toEqual([404, "not_found"]);
  const said = (json: typeof real.json, asked: string): string =>
    JSON.stringify({ ...json.error, request_id: "" }).replaceAll(asked, "ID");
  expect(said(real.json, id)).toBe(said(madeUp.json, "ses_doesnotexist"));
  expect((await other.app("GET /profile")).sessions.map((session) => session.id)).toContain(id);
});
