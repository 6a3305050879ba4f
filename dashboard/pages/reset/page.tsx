// Setting a new password by the link that an operator made.
import { Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useAsk } from "../../api/read.ts";
import { MINIMUM_PASSWORD, NewPassword } from "../../components/account-form.tsx";
import { Form } from "../../components/form.tsx";
import { Front } from "../../components/front.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { useLinkToken } from "../../one-time-link.ts";
import { path } from "../../path-builder.ts";
import { resetTexts as words } from "./texts.ts";

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
        <ButtonLink to={path.signIn()}>{words.signIn}</ButtonLink>
      </Stack>
    );
  return (
    <Form
      onSubmit={() => reset.mutate({ token, password })}
      error={reset.error}
      actions={
        <Button
          type="submit"
          fullWidth
          loading={reset.isPending}
          disabled={password.length < MINIMUM_PASSWORD}
        >
          {words.save}
        </Button>
      }
    >
      <NewPassword label={words.password} value={password} onChange={setPassword} />
    </Form>
  );
}
