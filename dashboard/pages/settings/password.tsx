// Changing the password; this ends every other session of the person.
import { Button, Group, PasswordInput, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import { MINIMUM_PASSWORD, NewPassword } from "../../components/account-form.tsx";
import { Form } from "../../components/form.tsx";
import { accountFormTexts } from "../../components/texts.ts";
import { settingsTexts as words } from "./texts.ts";

export function PasswordForm() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useChange("POST /profile/password", {}, () => {
    setCurrent("");
    setNext("");
  });
  return (
    <Form
      gap="sm"
      maw={320}
      onSubmit={() => change.mutate({ current, next })}
      error={change.error}
      actions={
        <Group gap="sm">
          <Button
            type="submit"
            variant="default"
            loading={change.isPending}
            disabled={current === "" || next.length < MINIMUM_PASSWORD}
          >
            {words.changePassword}
          </Button>
          {change.isSuccess && (
            <Text size="sm" role="status">
              {words.changed}
            </Text>
          )}
        </Group>
      }
    >
      <PasswordInput
        label={words.currentPassword}
        data-field="current"
        autoComplete="current-password"
        value={current}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": accountFormTexts.show }}
      />
      <NewPassword label={words.newPassword} value={next} onChange={setNext} />
    </Form>
  );
}
