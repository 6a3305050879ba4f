// A form that changes something on the server. The hook lives in its dialog, so its `Idempotency-Key` is made when the
// form opens: a double click or a retry acts once. The answer goes to `onDone` and is kept by nobody, as it may hold a
// secret.
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

interface ChangeTerms<Input, Answer> {
  send: (input: Input, idempotencyKey: string) => Promise<Answer>;
  onDone: (answer: Answer) => void;
  /** What the server has to be asked again. */
  stale: QueryKey;
}

export function useChange<Input, Answer>({ send, onDone, stale }: ChangeTerms<Input, Answer>) {
  const queries = useQueryClient();
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  return useMutation({
    gcTime: 0,
    mutationFn: async (input: Input): Promise<void> => {
      const answer = await send(input, idempotencyKey);
      setKey(crypto.randomUUID());
      onDone(answer);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: stale }),
  });
}
