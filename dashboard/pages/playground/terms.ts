// The choices and inputs of the playground, and the request made from them.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ChatBody, Message } from "../../api/chat.ts";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { FIRST_SURFACE, SPOKEN_SURFACES } from "../../../src/domain/surfaces.ts";
import { oneOf, text, useFilters } from "../../filters.ts";
import { canPay, payingKey } from "./paying-key.ts";
import { readTools } from "./tools.ts";

type Key = Row<"GET /orgs/{org}/keys">;
type Model = Row<"GET /orgs/{org}/models">;

const SHAPE = { model: text(), second: text(), surface: oneOf([...SPOKEN_SURFACES], FIRST_SURFACE) };

export interface Choices {
  models: readonly Model[];
  /** The newest usable keys; more are found by name. */
  keys: readonly Key[];
}

/** One model to ask; the address names it. */
export interface Asked {
  model: Model;
  effort: string | null;
  setModel: (id: string) => void;
  setEffort: (mode: string | null) => void;
}

export function useTerms(org: string, { models, keys }: Choices) {
  const [named, setNamed] = useFilters(SHAPE);
  const [efforts, setEfforts] = useState<Record<string, string | null>>({});
  const [key, setKey] = useState<string | null>(null);
  const [maxTokens, setMaxTokens] = useState<number | null>(512);
  const [system, setSystem] = useState("");
  const [tools, setTools] = useState("");
  const [stream, setStream] = useState(true);
  const askedAs = (which: "model" | "second", model: Model): Asked => ({
    model,
    effort: model.reasoning === null ? null : (efforts[model.id] ?? null),
    setModel: (id) => setNamed({ [which]: id }),
    setEffort: (mode) => setEfforts({ ...efforts, [model.id]: mode }),
  });
  const first = models.find(({ id }) => id === named.model) ?? models.find(isReady) ?? models[0];
  const second = models.find(({ id }) => id === named.second);
  const newest = payingKey(keys, first);
  const seeks = first !== undefined && !(newest !== undefined && canPay(newest, first));
  const older = useQuery({
    ...read(
      "GET /orgs/{org}/keys",
      { org },
      { state: "active", scope: first?.tier, model: first?.id, limit: 1 },
    ),
    enabled: seeks,
  });
  // While an older key is being looked up, none is chosen yet.
  const paying =
    seeks && older.isLoading ? undefined : payingKey([...keys, ...(older.data?.data ?? [])], first);
  return {
    models,
    first: first && askedAs("model", first),
    second: second && askedAs("second", second),
    compare: () =>
      setNamed({ second: (models.find((one) => isReady(one) && one !== first) ?? models[0])?.id ?? "" }),
    single: () => setNamed({ second: "" }),
    surface: named.surface,
    setSurface: (surface: string | null) => setNamed({ surface: SHAPE.surface(surface ?? undefined) }),
    key: key ?? paying?.id ?? "",
    setKey,
    maxTokens,
    setMaxTokens,
    system,
    setSystem,
    tools,
    setTools,
    stream,
    setStream,
    toolsProblem: readTools(tools).problem,
    /** Makes the request that sends these messages to a model. */
    bodyOf: ({ model, effort }: Asked, messages: readonly Message[]): ChatBody => {
      const { found } = readTools(tools);
      // Responses show reasoning only if the request names a mode.
      const mode = effort ?? (named.surface === "responses" ? (model.reasoning?.default ?? null) : null);
      // Anthropic's surface requires one.
      const most = maxTokens ?? (named.surface === "messages" ? model.default_output_tokens : null);
      return {
        model: model.id,
        messages: [
          ...(system.trim() === "" ? [] : [{ role: "system" as const, content: system }]),
          ...messages,
        ],
        ...(most !== null && { max_tokens: most }),
        ...(mode !== null && { reasoning_effort: mode }),
        ...(found.length > 0 && { tools: found }),
        stream,
      };
    },
  };
}

export type Terms = ReturnType<typeof useTerms>;

const isReady = ({ access, state }: Model): boolean => access === "open" && state === "live";
