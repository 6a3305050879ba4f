// The name of an organization where several are shown. Those with the same name are distinguished by the ends of their
// ids.
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../api/read.ts";
import type { Namesakes } from "../format/namesakes.ts";

const NONE: Namesakes = new Set();

/** Among all that there are, for operators. Empty until it is known, and while `enabled` is false. */
export function useNamesakes(enabled = true): Namesakes {
  const { data } = useQuery({
    ...read("GET /operator/organizations/namesakes", {}),
    staleTime: 60_000,
    enabled,
    select: setOf,
  });
  return data ?? NONE;
}

const setOf = ({ data }: { data: string[] }): Namesakes => new Set(data);

const endOf = (id: string): string => `…${id.slice(-4)}`;

/** In a line of text: `Acme …x7Qd`. */
export const nameAmong = (namesakes: Namesakes, { id, name }: { id: string; name: string }): string =>
  namesakes.has(id) ? `${name} ${endOf(id)}` : name;

/** For operators' pages. If the name is unknown, for example lost, the id is shown instead. */
export function OrganizationName({ id, name }: { id: string; name: string | null }) {
  const shared = useNamesakes().has(id);
  return (
    <>
      {name ?? id}
      {shared && name !== null && (
        <>
          {" "}
          <Text span inherit c="dimmed" fw={400} title={id}>
            {endOf(id)}
          </Text>
        </>
      )}
    </>
  );
}
