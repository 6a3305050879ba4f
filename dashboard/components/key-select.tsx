// A select for one of an organization's keys.
import { useQuery } from "@tanstack/react-query";
import { keyQuery } from "../api/key.ts";
import { read } from "../api/read.ts";
import type { Asked, Row } from "../api/routes.ts";
import { type ChooserProps, type Option, SearchSelect, useTyped, withChosen } from "./search-select.tsx";
import { spendFilterTexts as words } from "./texts.ts";

type Key = Row<"GET /orgs/{org}/keys">;

interface KeySelectProps extends ChooserProps {
  org: string;
  /** Only keys in this state; default: all. */
  state?: Asked<"GET /orgs/{org}/keys">["state"];
  /** The label in the list; default: the key's name. */
  called?: (key: Key) => string;
  inForm?: boolean;
}

const nameOf = ({ name, state }: Key): string => (state === "revoked" ? words.revoked(name) : name);

export function KeySelect({ org, state, called = nameOf, ...props }: KeySelectProps) {
  const optionOf = (key: Key): Option => ({ value: key.id, label: called(key) });
  const { data, isSuccess } = useQuery(keyQuery(org, props.value));
  const asItIs = data && optionOf(data);
  // Includes the key in the address even if it no longer exists.
  const chosen =
    asItIs ?? (props.value === "" || !isSuccess ? undefined : { value: props.value, label: props.value });
  const typed = useTyped(chosen);
  const { data: keys, isFetching } = useQuery({
    ...read("GET /orgs/{org}/keys", { org }, { search: typed.search, state }),
    enabled: typed.opened,
  });
  const found = withChosen(chosen, (keys?.data ?? []).map(optionOf));
  return (
    <SearchSelect
      {...props}
      clearLabel={words.clear(props.label)}
      typed={typed}
      found={found}
      isFetching={isFetching}
    />
  );
}
