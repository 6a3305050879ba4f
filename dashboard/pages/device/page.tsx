// A terminal wants to log in as the person who looks at this page: they type or confirm its code, then decide.
import { Button, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAsk } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { Form } from "../../components/form.tsx";
import { Front } from "../../components/front.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { text, useFilters } from "../../filters.ts";
import { path } from "../../path-builder.ts";
import { deviceTexts as words } from "./texts.ts";
import { stateTexts } from "../../components/texts.ts";
import { SignedIn } from "../signed-in.tsx";
import { Decision } from "./decision.tsx";

type Device = Answer<"POST /operator/devices/find">;

const LETTERS = 8;

export const DevicePage = () => (
  <SignedIn>{({ person }) => (person.operator ? <Asked /> : <ForOperators email={person.email} />)}</SignedIn>
);

const ForOperators = ({ email }: { email: string }) => (
  <Front title={words.title}>
    <Text className="name">{words.forOperators(email)}</Text>
    <ButtonLink to={path.home()} variant="default">
      {stateTexts.home}
    </ButtonLink>
  </Front>
);

function Asked() {
  const [found, setFound] = useState<Device | null>(null);
  const [decided, setDecided] = useState<Device | null>(null);
  if (decided !== null)
    return (
      <Front title={words.title}>
        <Text role="status" className="name">
          {decided.state === "approved" ? words.approved(decided.key_name) : words.declined}
        </Text>
        <ButtonLink to={path.operator("people")} variant="default">
          {words.toKeys}
        </ButtonLink>
      </Front>
    );
  return (
    <Front title={words.title} lead={found === null ? words.lead : words.decideLead} size={520}>
      {found === null ? (
        <CodeForm onFound={setFound} />
      ) : (
        <Decision of={found} onDecided={setDecided} onBack={() => setFound(null)} />
      )}
    </Front>
  );
}

/** A link may carry the code; it is shown, to be compared with the terminal, and never submitted automatically. */
function CodeForm({ onFound }: { onFound: (device: Device) => void }) {
  const [{ code: brought }] = useFilters({ code: text() });
  const [code, setCode] = useState(() => typed(brought));
  const find = useAsk("POST /operator/devices/find", {}, onFound);
  return (
    <Form
      onSubmit={() => find.mutate({ user_code: code })}
      error={find.error}
      actions={
        <Button type="submit" fullWidth loading={find.isPending} disabled={code.length <= LETTERS}>
          {words.find}
        </Button>
      }
    >
      <TextInput
        label={words.code}
        description={words.codeHelp}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        maxLength={LETTERS + 1}
        value={code}
        onChange={(event) => setCode(typed(event.currentTarget.value))}
      />
    </Form>
  );
}

/** As the terminal prints it: `BCDF-GHJK`. */
function typed(input: string): string {
  const letters = input
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, "")
    .slice(0, LETTERS);
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters;
}
