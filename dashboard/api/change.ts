// Forms that change something on the server. The hook lives in its dialog, so its `Idempotency-Key` is made when the
// form opens: a double click or a retry acts once. The answer goes to `onDone` and is not cached, because it may hold
// a secret. Afterwards all queries of the same organization, of the operator's pages or of the person's own account
// are refetched.
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "./client.ts";
import {
  addressOf,
  type Answer,
  type Body,
  methodOf,
  type Params,
  segmentsOf,
  type Write,
} from "./routes.ts";

/** The part of a mutation that a form shows. */
export interface Mutation {
  isPending: boolean;
  error: unknown;
}

export function useChange<R extends Write>(
  route: R,
  params: Params<R>,
  onDone: Done<Answer<R>> = () => {},
  stale: QueryKey = aboutOf(segmentsOf(route, params)),
) {
  const change = (body: Body<R>, idempotencyKey: string): Promise<Answer<R>> =>
    send<Answer<R>>(addressOf(route, params), { method: methodOf(route), body, idempotencyKey });
  return useSend({ send: change, onDone, stale });
}

const aboutOf = (segments: readonly string[]): QueryKey => segments.slice(0, segments[0] === "orgs" ? 2 : 1);

type Done<Answer> = (answer: Answer) => void | Promise<void>;

interface SendTerms<Input, Answer> {
  send: (input: Input, idempotencyKey: string) => Promise<Answer>;
  onDone: Done<Answer>;
  /** The queries to refetch. */
  stale: QueryKey;
}

/** The same for the sign-in library's endpoints, which are not in our API description. */
export function useSend<Input, Answer>({ send: go, onDone, stale }: SendTerms<Input, Answer>) {
  const queries = useQueryClient();
  const [idempotencyKey, setKey] = useState(newKey);
  return useMutation({
    gcTime: 0,
    mutationFn: async (input: Input): Promise<void> => {
      const answer = await go(input, idempotencyKey);
      setKey(newKey());
      await onDone(answer);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: stale }),
  });
}

/** 128 random bits. Over plain http a browser has no `crypto.randomUUID`, except on its own machine. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
