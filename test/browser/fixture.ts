// An organization with people, keys, credits and requests, so that no page is empty.
import { type Browser, newMember } from "../support/browser.ts";
import { RESEARCH } from "../support/models.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";

export interface Seeded {
  org: string;
  /** Email addresses of people who can sign in. */
  owner: string;
  developer: string;
}

export interface SeededDashboard {
  dashboard: Dashboard;
  seeded: Seeded;
  visitor: Visitor;
}

/** The owner is signed in at a browser; no page is open yet. */
export async function startSeeded(): Promise<SeededDashboard> {
  const dashboard = await startDashboard();
  const seeded = await seed(dashboard);
  return { dashboard, seeded, visitor: await dashboard.visitor(seeded.owner) };
}

export async function seed({ root, gateway }: Dashboard): Promise<Seeded> {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" });
  await root.app("POST /operator/organizations", {}, { name: "Basalt Labs" });
  const [owner, developer] = ["olga@example.com", "dora@example.com"];
  const olga = await newMember(root, gateway, { org, role: "owner", email: owner });
  const dora = await newMember(root, gateway, { org, role: "developer", email: developer });
  await grant(root, org, { amount_usd: "250", kind: "purchase", reference: "INV-2026-0141" });
  await grant(root, org, { amount_usd: "10", kind: "grant", reference: "welcome-acme" });
  await olga.app("POST /orgs/{org}/keys", { org }, { name: "Production", limit_usd: "100" });
  const batch = await dora.app(
    "POST /orgs/{org}/keys",
    { org },
    { name: "Nightly batch", limit_usd: "0.001" },
  );
  const spare = await dora.app("POST /orgs/{org}/keys", { org }, { name: "Laptop" });
  await dora.app("POST /orgs/{org}/keys/{key}/revoke", { org, key: spare.id });
  const customer = { organizationId: org, keyId: batch.id, secret: batch.secret ?? "" };
  for (const content of ["Say hello", "Sort these words", "What is a toll gate?"])
    await gateway.chat(customer, { model: "plain-1", messages: [{ role: "user", content }], max_tokens: 32 });
  await gateway.chat(customer, {
    model: "plain-1",
    messages: [{ role: "user", content: "x" }],
    max_tokens: 0,
  });
  const asked = { model: RESEARCH.model, project: "Grasping", purpose: "Compare reasoning modes" };
  await dora.app("POST /orgs/{org}/research", { org }, asked);
  return { org, owner, developer };
}

interface Grant {
  amount_usd: string;
  kind: "purchase" | "grant";
  reference: string;
}

const grant = (root: Browser, org: string, terms: Grant): Promise<unknown> =>
  root.app("POST /operator/credits", {}, { org, reason: "agreed by mail", ...terms });
