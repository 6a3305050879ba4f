// A new password by the link that an operator made.
import { Button, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useAsk } from "../../api/read.ts";
import { MINIMUM_PASSWORD, NewPassword } from "../../components/account-form.tsx";
import { Front } from "../../components/front.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Failure } from "../../components/states.tsx";
import { useLinkToken } from "../../one-time-link.ts";
import { path } from "../../path-builder.ts";
import { resetTexts as words } from "./texts.ts";
import { signInTexts } from "../sign-in/texts.ts";

export function ResetPage() {
  const token = useLinkToken();
  return (
    <Front title={words.title} lead={words.lead}>
      {token === null ? <Text>{words.noLink}</Text> : <Reset token={token} />}
    </Front>
  );
}

function Reset({ token }: { token: string }) {
  const [password, setPassword] = useState("");
  const reset = useAsk("POST /reset", {});
  if (reset.isSuccess)
    return (
      <Stack gap="md">
        <Text role="status">{words.done}</Text>
        <ButtonLink to={path.signIn()}>{signInTexts.submit}</ButtonLink>
      </Stack>
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    reset.mutate({ token, password });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <NewPassword label={words.password} value={password} onChange={setPassword} />
        {reset.error !== null && <Failure error={reset.error} />}
        <Button
          type="submit"
          fullWidth
          loading={reset.isPending}
          disabled={password.length < MINIMUM_PASSWORD}
        >
          {words.save}
        </Button>
      </Stack>
    </form>
  );
}
