// The first factor: a password, a passkey, or the company's sign-in.
import { Button, Divider, PasswordInput, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  canUsePasskeys,
  type SignedIn,
  signIn,
  signInWithCompany,
  signInWithPasskey,
} from "../../api/auth.ts";
import { visitQuery } from "../../api/session.ts";
import { Form } from "../../components/form.tsx";
import { signInTexts as words } from "./texts.ts";
import { accountFormTexts } from "../../components/texts.ts";

interface FirstFactorProps {
  /** Where to go once signed in. */
  target: string;
  /** Why a company's sign-in came back without a session. */
  returned: Error | null;
  done: () => void;
  askFactor: () => void;
}

type Way =
  | { kind: "password"; email: string; password: string }
  | { kind: "passkey" }
  | { kind: "company"; id: string };

export function FirstFactor({ target, returned, done, askFactor }: FirstFactorProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const entry = useMutation({
    mutationFn: (way: Way) => enter(way, target),
    onSuccess: ({ kind }) => {
      if (kind === "signed_in") done();
      if (kind === "code_needed") askFactor();
    },
  });
  return (
    <Form
      onSubmit={() => entry.mutate({ kind: "password", email, password })}
      error={entry.isIdle ? returned : entry.error}
      actions={
        <>
          <Button type="submit" loading={entry.isPending && entry.variables.kind === "password"} fullWidth>
            {words.submit}
          </Button>
          <OtherWays begun={entry.isPending ? entry.variables : null} begin={entry.mutate} />
          <Text size="xs" c="dimmed">
            {words.lost}
          </Text>
        </>
      }
    >
      <TextInput
        label={words.email}
        type="email"
        autoComplete="username webauthn"
        required
        withAsterisk={false}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordInput
        label={words.password}
        autoComplete="current-password"
        required
        withAsterisk={false}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": accountFormTexts.show }}
      />
    </Form>
  );
}

function enter(way: Way, target: string): Promise<SignedIn> {
  switch (way.kind) {
    case "password":
      return signIn({ email: way.email, password: way.password });
    case "passkey":
      return signInWithPasskey();
    case "company":
      return signInWithCompany(way.id, {
        target,
        refused: location.pathname + withoutError(location.search),
      });
  }
}

/** Removes the error of an earlier attempt. */
function withoutError(query: string): string {
  const rest = new URLSearchParams(query);
  rest.delete("error");
  rest.delete("error_description");
  return rest.size === 0 ? "" : `?${rest}`;
}

/** The ways other than a password that this gateway and this browser offer. */
function OtherWays({ begun, begin }: { begun: Way | null; begin: (way: Way) => void }) {
  const { data } = useQuery(visitQuery);
  const companies = data?.ways.oidc ?? [];
  const passkey = data?.ways.passkey === true && canUsePasskeys();
  if (companies.length === 0 && !passkey) return null;
  return (
    <>
      <Divider label={words.or} />
      {companies.map(({ id, name }) => (
        <Button
          key={id}
          variant="default"
          fullWidth
          loading={begun?.kind === "company" && begun.id === id}
          onClick={() => begin({ kind: "company", id })}
        >
          {words.with(name)}
        </Button>
      ))}
      {passkey && (
        <Button
          variant="default"
          fullWidth
          loading={begun?.kind === "passkey"}
          onClick={() => begin({ kind: "passkey" })}
        >
          {words.passkey}
        </Button>
      )}
    </>
  );
}
