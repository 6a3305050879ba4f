// The one form, in a dialog or on a page: its fields, what went wrong below them, its buttons last. The browser submits it; a
// submit button that is disabled keeps Enter from it, too.
import { Stack } from "@mantine/core";
import type { FormEvent, MouseEvent, ReactNode } from "react";
import { Failure } from "./states.tsx";

interface FormProps {
  onSubmit: () => void;
  /** Something in it was typed or chosen. */
  onChanged?: () => void;
  /** Of what was sent last; null or undefined while there is none. */
  error: unknown;
  /** The buttons; on a line with its only field, they stand beside it instead. */
  actions?: ReactNode;
  gap?: "sm" | "md";
  maw?: number;
  children: ReactNode;
}

export function Form({ onSubmit, onChanged, error, actions, gap = "md", maw, children }: FormProps) {
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  // An option stands in a list of its own, below the form for React alone.
  const chosen = ({ target }: MouseEvent): void => {
    if (target instanceof Element && target.closest('[role="option"]') !== null) onChanged?.();
  };
  return (
    <form onSubmit={submit} onChange={onChanged} onClick={chosen}>
      <Stack gap={gap} {...(maw !== undefined && { maw })}>
        {children}
        {error !== null && error !== undefined && <Failure error={error} />}
        {actions}
      </Stack>
    </form>
  );
}
