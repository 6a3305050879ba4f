// One line of what needs attention: a link to the thing itself, if the person may see it.
import { Anchor, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { BareLink } from "../../components/link.tsx";

interface WarningProps {
  to: string | null;
  search?: Record<string, string>;
  children: ReactNode;
}

export const Warning = ({ to, search = {}, children }: WarningProps) =>
  to === null ? (
    <Text size="sm" className="name">
      {children}
    </Text>
  ) : (
    <Anchor
      size="sm"
      c="var(--mantine-color-text)"
      className="name warning"
      renderRoot={(props) => <BareLink to={to} search={search} {...props} />}
    >
      {children}
    </Anchor>
  );
