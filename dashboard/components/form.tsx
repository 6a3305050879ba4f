// The one form component, in a dialog or on a page: its fields, the error below them, its buttons last. The browser
// submits it; a disabled submit button also blocks Enter.
import { Stack } from "@mantine/core";
import { type FormEvent, type MouseEvent, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { ApiError } from "../api/client.ts";
import { Failure } from "./states.tsx";

interface FormProps {
  onSubmit: () => void;
  /** Something in it was typed or chosen. */
  onChanged?: () => void;
  /** The error of the last submission; null or undefined if there is none. */
  error: unknown;
  /** The buttons; beside the field if it is the only one of a one-line form. */
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
  // The DOM has an option in a list outside the form; only React has it below the form.
  const chosen = ({ target }: MouseEvent): void => {
    if (target instanceof Element && target.closest('[role="option"]') !== null) onChanged?.();
  };
  return (
    <form onSubmit={submit} onChange={onChanged} onClick={chosen}>
      <Stack gap={gap} {...(maw !== undefined && { maw })}>
        {children}
        {error !== null && error !== undefined && <FormFailure error={error} />}
        {actions}
      </Stack>
    </form>
  );
}

/** Shows the error of a form or of another part with `data-fields`; replaces the API's field names by their labels. */
export function FormFailure({ error }: { error: unknown }) {
  const place = useRef<HTMLDivElement>(null);
  const [said, say] = useState(error);
  useLayoutEffect(() => {
    const fields = place.current?.closest("form, [data-fields]")?.querySelectorAll("[data-field]") ?? [];
    say(error instanceof ApiError ? inLabels(error, [...fields]) : error);
  }, [error]);
  return (
    <div ref={place}>
      <Failure error={said} />
    </div>
  );
}

function inLabels(error: ApiError, fields: readonly Element[]): ApiError {
  let { message } = error;
  for (const field of fields) {
    const name = field.getAttribute("data-field") ?? "";
    const label = labelOf(field);
    if (label === "") continue;
    // A one-word name may also be a plain word of the sentence: it counts as the field only at the start.
    const named = name.includes("_") ? new RegExp(`\\b${name}\\b`, "g") : new RegExp(`^${name}(?=:? )`);
    message = message.replace(named, `“${label}”`);
  }
  const { status, code, requestId, param, step } = error;
  return message === error.message ? error : new ApiError({ status, code, requestId, param, step, message });
}

const labelOf = (field: Element): string => {
  const label =
    (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field.labels?.[0] : null) ??
    field.querySelector("label");
  return (label?.textContent ?? "").replace(/\s*\*$/, "").trim();
};
