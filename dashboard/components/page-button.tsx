// A link to another page of the organization; not shown to a person who may not see that page.
import type { ButtonProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useMembership } from "../membership.tsx";
import { type OrganizationPage, path } from "../path-builder.ts";
import { ButtonLink } from "./link.tsx";

interface PageButtonProps extends ButtonProps {
  page: OrganizationPage;
  search?: Record<string, string>;
  children: ReactNode;
}

export function PageButton({ page, search = {}, ...props }: PageButtonProps) {
  const { org, sees } = useMembership();
  return sees(page) ? <ButtonLink to={path.organization(org.id, page)} search={search} {...props} /> : null;
}
