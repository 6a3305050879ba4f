// What a request would hold, as the gateway itself says; or why it would be refused, and what to do then.
import { Button, Group, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api/client.ts";
import type { SpokenSurface } from "../../../src/domain/surfaces.ts";
import type { ChatBody } from "../../api/chat.ts";
import { Money } from "../../components/figures.tsx";
import { Failure, Former } from "../../components/states.tsx";
import { formatCount } from "../../format/count.ts";
import { quoteQuery } from "./quote.ts";
import { stateTexts } from "../../components/texts.ts";
import { playgroundTexts as words } from "./texts.ts";

interface BoundProps {
  org: string;
  paidBy: string;
  surface: SpokenSurface;
  request: ChatBody;
  onAffordable: (tokens: number) => void;
  /** Names the model if two are asked. */
  named: boolean;
}

export function Bound({ org, paidBy, surface, request, onAffordable, named }: BoundProps) {
  const [typed] = useDebouncedValue(JSON.stringify(request), 400);
  const quote = useQuery(quoteQuery(org, { key: paidBy, surface, request: JSON.parse(typed) as ChatBody }));
  const about = { org, key: paidBy, model: request.model };
  if (quote.error !== null) return <Failure error={quote.error} about={about} />;
  if (quote.data === undefined) return null;
  const { refusal, max_charge_usd, affordable_max_tokens } = quote.data;
  return (
    <>
      {max_charge_usd !== null && (
        <Former query={quote} quiet>
          <Text size="sm" c="dimmed" role="status" className="name">
            {words.upTo} <Money usd={max_charge_usd} /> {words.isHeld}
            {named && ` · ${request.model}`}
            {quote.isPlaceholderData && ` · ${stateTexts.renewing}`}
          </Text>
        </Former>
      )}
      {refusal !== null && (
        <Failure error={new ApiError({ ...refusal, requestId: null, param: null })} about={about} />
      )}
      {refusal?.code === "insufficient_credits" && affordable_max_tokens > 0 && (
        <Group gap="xs">
          <Text size="sm">{words.affordable(formatCount(affordable_max_tokens))}</Text>
          <Button size="compact-sm" variant="default" onClick={() => onAffordable(affordable_max_tokens)}>
            {words.useAffordable}
          </Button>
        </Group>
      )}
    </>
  );
}
