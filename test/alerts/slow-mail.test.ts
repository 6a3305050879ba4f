// A slow but working mail server: no email loses an attempt to others that wait for a connection.
import { expect, test } from "bun:test";
import type { Delivery } from "../../src/alerts/alert.ts";
import { Deliveries, type DeliverPorts } from "../../src/alerts/deliver.ts";

test("no more emails are started than the connections can send in time, and their places are free again afterwards", async () => {
  let due = Array.from({ length: 40 }, (_, n) => ({
    id: `msg_${n}`,
    organizationId: `org_${n}`,
    channelId: "chn_1",
    tries: 1,
  })) as Delivery[];
  let [underWay, most] = [0, 0];
  const states: string[] = [];
  const ports = {
    nowMs: Date.now,
    rules: { channel: async () => ({ channel: { kind: "mail" }, secret: null }) },
    outbox: {
      waiting: async () => due.map(({ organizationId }) => organizationId),
      claim: async (
        _: number,
        { organizationIds, atOnce }: { organizationIds: string[]; atOnce: number },
      ) => {
        const claimed = due
          .filter(({ organizationId }) => organizationIds.includes(organizationId))
          .slice(0, atOnce);
        due = due.filter((one) => !claimed.includes(one));
        return claimed;
      },
      tried: async (_: Delivery, __: unknown, { state }: { state: string }) => void states.push(state),
    },
    mail: async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await Bun.sleep(5);
      underWay -= 1;
      return { kind: "delivered", status: 250 };
    },
  } as unknown as DeliverPorts;
  const mails = new Deliveries("mail", ports);
  while (due.length > 0) await Promise.all(await mails.begin());
  expect([most, states.length, new Set(states)]).toEqual([10, 40, new Set(["delivered"])]);
});
