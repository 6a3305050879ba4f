// A developer tries a model in the playground: the answer comes in parts, and its cost is the same on the page, in
// the ledger, in Activity and on the key.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../../dashboard/path-builder.ts";
import { answerTexts as answer, pageNames } from "../../../dashboard/components/texts.ts";
import { playgroundTexts as words } from "../../../dashboard/pages/playground/texts.ts";
import { newMember } from "../../support/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { type Dashboard, startDashboard, type Visitor } from "../dashboard.ts";
import { exact, nano } from "../figures.ts";
import { closeSecret, createKey, findRequest, newOrganization, rowsOf } from "../steps.ts";

const MODEL = "plain-1";
const TOKENS = 40;
const TOKENS_PER_SECOND = 40;

let dashboard: Dashboard;
let org: string;
let dora: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  org = await newOrganization(dashboard, "Acme");
  const at = { org, role: "developer", email: "dora@example.com" } as const;
  await newMember(dashboard.root, dashboard.gateway, at);
  dora = await dashboard.visitor(at.email);
  await dora.open(path.organization(org, "keys"));
  await createKey(dora, { name: "Trying" });
  await closeSecret(dora);
});
afterAll(() => dashboard.stop());

test("the answer streams; its cost on the page is the ledger's, Activity's and the key's", async () => {
  const { page } = dora;
  const { gateway } = dashboard;
  const behaviour = { completion_tokens: TOKENS, tokens_per_second: TOKENS_PER_SECOND };
  gateway.simulator.behave({ behaviour });
  await dora.open(`${path.organization(org, "playground")}?model=${MODEL}`);
  await page.getByLabel(words.message, { exact: true }).fill("What is a toll gate?");
  await page.getByRole("button", { name: words.send, exact: true }).click();

  const said = page.locator("[aria-live=polite][aria-busy]");
  await page.getByText(answer.phases.streaming, { exact: true }).waitFor();
  const part = await said.innerText();
  await waitFor(async () => (await said.innerText()).length > part.length, "a further part");
  expect(await said.getAttribute("aria-busy")).toBe("true");
  await page.getByText(answer.phases.settled, { exact: true }).waitFor();
  expect((await said.innerText()).startsWith(part.trimEnd())).toBe(true);

  const [call] = gateway.simulator.bill();
  expect(call).toMatchObject({ stream: true, completion_tokens: TOKENS, outcome: "finished" });
  const id = call?.request_id ?? "";
  const request = await gateway.request(id);
  const charge = exact(request.charge);
  await page.getByText(`${answer.chargedThen} ${charge}`).waitFor();
  expect(request.charge).toBe(
    nano(`0.${String((call?.prompt_tokens ?? 0) * 2000 + TOKENS * 2000).padStart(9, "0")}`),
  );

  const row = await findRequest(dora, org, id);
  expect(await row.getByTitle(charge, { exact: true }).count()).toBe(1);
  await dora.open(path.organization(org, "keys"));
  const key = rowsOf(dora, pageNames.keys).filter({ hasText: "Trying" });
  expect(await key.getByTitle(charge, { exact: true }).count()).toBe(1);
  await gateway.assertSound();
  expect((await gateway.ledger.balance(org))?.available as bigint).toBe(nano("5") - request.charge);
  expect(dora.complained()).toEqual([]);
});
