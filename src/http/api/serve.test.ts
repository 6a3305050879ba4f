// Queueing at the doors of the API: only the reads of one person that reads a lot.
import { Hono } from "hono";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { z } from "zod";
import { waitFor } from "../../../test/support/wait.ts";
import type { Endpoint } from "../../api/endpoint.ts";
import type { Actor } from "../../domain/actor.ts";
import { type Arrived, type Door, mount } from "./serve.ts";

const ABREAST = 8;

/** Names of the work that has begun, in order; none of it ends before `gate` opens. */
let begun: string[];
let gate: PromiseWithResolvers<void>;
let app: Hono<{ Bindings: Arrived }>;
beforeEach(() => {
  begun = [];
  gate = Promise.withResolvers();
  app = new Hono<{ Bindings: Arrived }>();
  const slow = (target: Endpoint["targets"][number]): { endpoint: Endpoint } => ({
    endpoint: {
      targets: [target],
      who: "signed_in",
      input: z.object({}),
      output: z.object({}),
      status: 200,
      own: null,
      run: async ({ caller }: { caller: { actor: Actor } }) => {
        begun.push(caller.actor.id);
        await gate.promise;
        return {};
      },
    } as unknown as Endpoint,
  });
  const door: Door = {
    root: "/app/v1",
    identify: async (request) => ({
      actor: { id: request.headers.get("authorization") ?? "" } as Actor,
      person: "",
      signedIn: null,
      standings: async () => [],
      holders: async () => "nobody",
    }),
  };
  const endpoints = [slow("GET /app/v1/usage" as never), slow("DELETE /app/v1/usage" as never)];
  mount(app, { endpoints, door, methods: new Map() }, { rooms: () => ({}), changing: () => ({}) } as never);
});
afterEach(() => gate.resolve());

const ask = async (person: string, method = "GET"): Promise<number> => {
  const headers = { authorization: person };
  const request = new Request("http://localhost/app/v1/usage", { method, headers });
  return (await app.fetch(request, { setIdleTimeout: () => {} } as unknown as Arrived)).status;
};

test("of one person eight reads run at once; the ninth waits, another person's does not", async () => {
  const all = Array.from({ length: ABREAST + 4 }, () => ask("many"));
  all.push(ask("one"));
  await waitFor(async () => begun.includes("one"), "another person's read");
  expect(begun.filter((person) => person === "many")).toHaveLength(ABREAST);
  gate.resolve();
  expect(new Set(await Promise.all(all))).toEqual(new Set([200]));
  expect(begun).toHaveLength(all.length);
});

test("what they change waits behind nothing that they read", async () => {
  const all = Array.from({ length: ABREAST + 4 }, () => ask("many"));
  await waitFor(async () => begun.length === ABREAST, "as many reads as run at once");
  all.push(ask("many", "DELETE"));
  await waitFor(async () => begun.length > ABREAST, "the change");
  gate.resolve();
  await Promise.all(all);
});
