// The one form, in a dialog or on a page: its fields, what went wrong below them, its buttons last. The browser submits it; a
// submit button that is disabled keeps Enter from it, too.
import { Stack } from "@mantine/core";
import { type FormEvent, type MouseEvent, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { ApiError } from "../api/client.ts";
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
        {error !== null && error !== undefined && <FormFailure error={error} />}
        {actions}
      </Stack>
    </form>
  );
}

/** What went wrong with a form or another part with `data-fields`: the API's names of fields are said as their labels. */
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
    // A name of one word may be a word of the sentence, too: it is the field's where it begins it.
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
