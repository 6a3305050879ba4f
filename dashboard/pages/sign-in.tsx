// Sign-in: password, then a code where the account asks for one; or a passkey.
import { Button, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { canUsePasskeys, signIn, signInWithPasskey, verifyCode } from "../api/auth.ts";
import { queryClient } from "../api/query-client.ts";
import { Front } from "../components/front.tsx";
import { Failure } from "../components/states.tsx";
import { text, useFilters } from "../filters.ts";
import { path } from "../path-builder.ts";
import { texts } from "../texts.ts";

const words = texts.signIn;

export function SignInPage() {
  const [codeNeeded, setCodeNeeded] = useState(false);
  const done = useReturn();
  return (
    <Front title={words.title} lead={words.lead}>
      {codeNeeded ? (
        <CodeForm done={done} />
      ) : (
        <PasswordForm done={done} askCode={() => setCodeNeeded(true)} />
      )}
    </Front>
  );
}

/** Back to where the person wanted to go: only ever an address of this dashboard. */
function useReturn(): () => void {
  const navigate = useNavigate();
  const [{ next }] = useFilters({ next: text() });
  return () => {
    queryClient.clear();
    const target = /^\/(?:o\/|operator\/|device$|invitation$|welcome$)/.test(next) ? next : path.home();
    void navigate({ href: target, replace: true });
  };
}

function PasswordForm({ done, askCode }: { done: () => void; askCode: () => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const byPassword = useMutation({
    mutationFn: () => signIn({ email, password }),
    onSuccess: ({ kind }) => (kind === "signed_in" ? done() : askCode()),
  });
  const byPasskey = useMutation({ mutationFn: signInWithPasskey, onSuccess: done });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    byPasskey.reset();
    byPassword.mutate();
  };
  const error = byPassword.error ?? byPasskey.error;
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
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
          visibilityToggleButtonProps={{ "aria-label": words.show }}
        />
        {error !== null && <Failure error={error} />}
        <Button type="submit" loading={byPassword.isPending} fullWidth>
          {words.submit}
        </Button>
        {canUsePasskeys() && (
          <>
            <Divider label={words.or} />
            <Button
              variant="default"
              fullWidth
              loading={byPasskey.isPending}
              onClick={() => byPasskey.mutate()}
            >
              {words.passkey}
            </Button>
          </>
        )}
        <Text size="xs" c="dimmed">
          {words.lost}
        </Text>
      </Stack>
    </form>
  );
}

function CodeForm({ done }: { done: () => void }) {
  const [code, setCode] = useState("");
  const verify = useMutation({ mutationFn: () => verifyCode(code), onSuccess: done });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    verify.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={words.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9]{6}"
          maxLength={6}
          data-autofocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        {verify.error !== null && <Failure error={verify.error} />}
        <Button type="submit" loading={verify.isPending} disabled={code.length !== 6} fullWidth>
          {words.verify}
        </Button>
      </Stack>
    </form>
  );
}
