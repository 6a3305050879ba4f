// A text filter. It waits for a pause in typing, so that a word is one request and one history entry: Back steps
// through views, not through letters.
import { TextInput, type TextInputProps } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { withoutSecret } from "../format/without-secret.ts";
import { Icon } from "./icon.tsx";

const PAUSE_MS = 300;

interface SearchFieldProps extends Omit<TextInputProps, "value" | "onChange"> {
  /** The current search. */
  value: string;
  onSearch: (text: string) => void;
}

export function SearchField({ value, onSearch, ...rest }: SearchFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const asked = useRef(value);
  const ask = useDebouncedCallback((text: string) => {
    asked.current = text;
    onSearch(text);
  }, PAUSE_MS);
  useEffect(() => {
    if (value === asked.current) return;
    // It was changed from outside: by Back, or by a button that clears the filters.
    asked.current = value;
    ask.cancel();
    setTyped(null);
  }, [value, ask]);
  return (
    <TextInput
      maxLength={200}
      spellCheck={false}
      autoComplete="off"
      leftSection={<Icon name="search" size={14} />}
      placeholder={typeof rest.label === "string" ? rest.label : undefined}
      wrapperProps={{ "data-search": "" }}
      {...rest}
      data-search
      value={typed ?? value}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        ask(withoutSecret(event.currentTarget.value));
      }}
    />
  );
}
