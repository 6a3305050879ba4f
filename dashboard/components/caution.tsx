// A notice that nobody should miss although nothing has gone wrong yet; its icon is as dark as its text.
import { Alert } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

const DARK = { color: "var(--mantine-color-text)" };

export const Caution = ({ title, children }: { title?: string; children: ReactNode }) => (
  <Alert
    color="yellow"
    variant="light"
    title={title}
    icon={<Icon name="warning" />}
    styles={{ title: DARK, icon: DARK }}
  >
    {children}
  </Alert>
);
