// Refunding a request: the request by its id, with its cost and earlier refunds; an amount, a reference that works
// once, a reason.
import { Button, Group, Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../../api/read.ts";
import { useChange } from "../../../api/change.ts";
import type { Answer } from "../../../api/routes.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { FormDialog } from "../../../components/dialogs.tsx";
import { ExactMoney, Time } from "../../../components/figures.tsx";
import { givenGrounds, GroundsFields, Outcome, NO_GROUNDS } from "./grounds.tsx";
import { Failure } from "../../../components/states.tsx";
import { isAmount, trimAmount } from "../../../format/amount.ts";
import { compareMoney, isZero } from "../../../format/money.ts";
import { activityStateNames } from "../../../components/texts.ts";
import { operatorCreditsTexts as words } from "./texts.ts";
import { OrganizationName } from "../../../components/organization-name.tsx";

type Refundable = Answer<"GET /operator/requests/{request}">;
type Refunded = Answer<"POST /operator/refunds">;

const WHOLE_ID = /^req_[0-9a-f]{32}$/;

interface RefundDialogProps {
  /** Given if it is refunded from its own record; otherwise it is typed. */
  request?: string;
  onClose: () => void;
}

export function RefundDialog({ request, onClose }: RefundDialogProps) {
  const [id, setId] = useState(request ?? "");
  const [amount, setAmount] = useState("");
  const [grounds, setGrounds] = useState(NO_GROUNDS);
  const [refunded, setRefunded] = useState<Refunded | null>(null);
  const found = useQuery({
    ...read("GET /operator/requests/{request}", { request: id }),
    enabled: WHOLE_ID.test(id),
    retry: false,
  });
  const refund = useChange("POST /operator/refunds", {}, setRefunded);
  const of = found.data;
  const tooMuch = of !== undefined && isAmount(amount) && compareMoney(amount.trim(), of.left_usd) > 0;
  const given = givenGrounds(grounds);
  const ready = of !== undefined && isAmount(amount) && !tooMuch && given !== null;
  return (
    <FormDialog
      title={words.refundTitle}
      action={words.refund}
      mutation={refund}
      disabled={!ready}
      done={refunded !== null}
      onClose={onClose}
      onSubmit={() => given !== null && refund.mutate({ request: id, amount_usd: amount.trim(), ...given })}
    >
      {refunded === null ? (
        <>
          <TextInput
            label={words.request}
            data-field="request"
            description={words.requestHelp}
            autoComplete="off"
            spellCheck={false}
            data-autofocus={request === undefined || undefined}
            readOnly={request !== undefined}
            maxLength={100}
            value={id}
            onChange={(event) => setId(event.currentTarget.value.trim())}
          />
          {found.error !== null && <Failure error={found.error} />}
          {of !== undefined && <Known of={of} />}
          <Group gap="xs" align="flex-end" wrap="nowrap">
            <AmountField
              style={{ flex: 1 }}
              label={words.amount}
              data-field="amount_usd"
              data-autofocus={request !== undefined || undefined}
              value={amount}
              error={tooMuch ? words.tooMuch : null}
              onChange={setAmount}
            />
            <Button
              variant="default"
              disabled={of === undefined || isZero(of.left_usd)}
              onClick={() => of !== undefined && setAmount(trimAmount(of.left_usd))}
            >
              {words.whole}
            </Button>
          </Group>
          <GroundsFields value={grounds} onChange={setGrounds} />
        </>
      ) : (
        <Outcome
          now={refunded.refunded}
          says={refunded.refunded ? words.refunded : words.refundRepeated}
          of={refunded}
        />
      )}
    </FormDialog>
  );
}

const Known = ({ of }: { of: Refundable }) => (
  <div role="status">
    <Text size="sm" fw={600} className="name">
      <OrganizationName id={of.org} name={of.org_name} />
    </Text>
    <Text size="sm" c="dimmed" className="name">
      {of.model} · {activityStateNames[of.state]} · <Time at={of.admitted_at} />
    </Text>
    <Table fz="sm" withRowBorders={false}>
      <Table.Tbody>
        {(["charge_usd", "refunded_usd", "left_usd"] as const).map((name) => (
          <Table.Tr key={name}>
            <Table.Td>{words.refundable[name]}</Table.Td>
            <Table.Td ta="right">
              <ExactMoney usd={of[name]} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </div>
);
