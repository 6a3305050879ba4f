// What a dashboard shows only when something is wrong: a provider whose usage was not believed, a damaged record,
// rejected requests, automatic top-up that acts late, keys of people who left, and no place for another live tail.
import { type Browser, newMember } from "../support/browser.ts";
import { hello } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import type { Dashboard } from "./dashboard.ts";

export interface Trouble {
  org: string;
  /** The address of its owner. */
  owner: string;
  /** A request that was refused for lack of credits. */
  rejected: string;
  /** Releases what hangs. */
  end: () => void;
}

const TAILS_OF_A_PERSON = 6;

/** Needs payments by the test driver. */
export async function seedTrouble({ root, gateway }: Dashboard): Promise<Trouble> {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Cobalt Foundry" });
  const owner = "otto@example.com";
  const otto = await newMember(root, gateway, { org, role: "owner", email: owner });
  const paid = {
    org,
    amount_usd: "0.012",
    kind: "purchase",
    reference: "INV-2026-0177",
    reason: "agreed by mail",
  };
  await root.app("POST /operator/credits", {}, paid);
  await root.app("POST /operator/management-keys", {}, { name: "Nightly statements" });
  const key = await otto.app("POST /orgs/{org}/keys", { org }, { name: "Production" });
  const customer = { organizationId: org, keyId: key.id, secret: key.secret ?? "" };
  const { MAX_SAFE_INTEGER: absurd } = Number;
  const usage = { prompt_tokens: absurd, completion_tokens: absurd };
  gateway.simulator.behave({ behaviour: { usage_as_is: usage }, calls: 2 });
  for (let call = 0; call < 2; call += 1) await gateway.chat(customer, { ...hello(), max_tokens: 10 });
  gateway.simulator.behave({ behaviour: { overrun_tokens: 500 }, calls: 1 });
  await gateway.chat(customer, { ...hello(), max_tokens: 10 });
  const { headers } = await gateway.chat(customer, { ...hello(), max_tokens: 100_000 });
  await autoTopUp(otto, org);
  // A setting that older versions allowed: one charge adds less than the threshold.
  await gateway.tamper("UPDATE auto_top_up SET threshold = 50000000000 WHERE org_id = ?1", org);
  const leaving = new AbortController();
  const quarantined = quarantine({ root, gateway }, customer.secret, leaving.signal);
  const tails = await Promise.all(
    Array.from({ length: TAILS_OF_A_PERSON }, () =>
      fetch(`${gateway.url}/app/v1/orgs/${org}/activity/tail`, {
        headers: { cookie: otto.cookie },
        signal: leaving.signal,
      }),
    ),
  );
  await quarantined;
  return {
    org,
    owner,
    rejected: headers.get("x-request-id") ?? "",
    end: () => {
      leaving.abort();
      // Referenced here to keep them alive until now: an unreferenced answer is collected, and its tail ends.
      tails.splice(0);
    },
  };
}

async function autoTopUp(owner: Browser, org: string): Promise<void> {
  const { version } = await owner.app("GET /orgs/{org}/billing/auto-top-up", { org });
  const wish = { on: true, threshold_usd: "25", amount_usd: "25", monthly_cap_usd: "100", version };
  await owner.app("PUT /orgs/{org}/billing/auto-top-up", { org }, wish);
}

/** A request whose record is damaged while it runs, up to the sweep that finds it. */
async function quarantine(
  { root, gateway }: Pick<Dashboard, "root" | "gateway">,
  secret: string,
  signal: AbortSignal,
): Promise<void> {
  gateway.simulator.behave({ behaviour: { hang: true }, calls: 1 });
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(hello()),
    signal,
  }).catch(() => null);
  const health = () => root.app("GET /operator/health");
  await waitFor(async () => (await health()).running === 1, "a running request");
  const aMinuteAgo = Date.now() - 60_000;
  const rot = `UPDATE request SET attempts = ?1, deadline_at = ${aMinuteAgo} WHERE state = 'dispatched'`;
  await gateway.tamper(rot, "[{");
  await waitFor(async () => (await health()).quarantined === 1, "the quarantine");
}
