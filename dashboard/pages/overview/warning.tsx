// One line of what needs a look: it leads to the very thing.
import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { BareLink } from "../../components/link.tsx";

interface WarningProps {
  to: string;
  search?: Record<string, string>;
  children: ReactNode;
}

export const Warning = ({ to, search = {}, children }: WarningProps) => (
  <Anchor
    size="sm"
    c="var(--mantine-color-text)"
    className="name warning"
    renderRoot={(props) => <BareLink to={to} search={search} {...props} />}
  >
    {children}
  </Anchor>
);
