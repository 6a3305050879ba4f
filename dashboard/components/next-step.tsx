// What to do about a refusal: where the credits, the very key or the very model are.
import { useContext } from "react";
import { maySee, MembershipContext } from "../membership.tsx";
import { type OrganizationPage, path } from "../path-builder.ts";
import { answerTexts } from "./texts.ts";
import { ButtonLink } from "./link.tsx";

/** What the refusal is about, as far as it is known. */
export interface Concern {
  org: string;
  key?: string | null;
  model?: string | null;
}

interface Way {
  page: OrganizationPage;
  label: string;
  search?: Record<string, string>;
}

const billing = (): Way => ({ page: "billing", label: answerTexts.next.billing });
const research = ({ model }: Concern): Way => ({
  page: "research",
  label: answerTexts.next.research,
  ...(model && { search: { ask: model } }),
});
const theKey = ({ key }: Concern): Way =>
  key
    ? { page: "keys", label: answerTexts.next.key, search: { search: key, state: "all" } }
    : { page: "keys", label: answerTexts.next.keys };
const theModel = ({ model }: Concern): Way =>
  model
    ? { page: "models", label: answerTexts.next.model, search: { search: model } }
    : { page: "models", label: answerTexts.next.models };

const NEXT: Record<string, (of: Concern) => Way | undefined> = {
  insufficient_credits: billing,
  paid_workspace_required: billing,
  key_spend_limit_reached: theKey,
  rate_limit_exceeded: (of) => (of.key ? theKey(of) : undefined), // else it is about the page itself
  api_key_revoked: theKey,
  api_key_paused: theKey,
  api_key_expired: theKey,
  model_not_allowed: theKey,
  scope_not_permitted: theKey,
  research_entitlement_required: research,
  model_not_found: ({ org }) => theModel({ org }),
  context_length_exceeded: theModel,
};

export function NextStep({ code, of }: { code: string; of: Concern }) {
  const membership = useContext(MembershipContext);
  const way = (NEXT[code] ?? (code.startsWith("route_") ? theModel : undefined))?.(of);
  if (way === undefined || (membership !== null && !maySee(membership.org.role, way.page))) return null;
  return (
    <ButtonLink
      to={path.organization(of.org, way.page)}
      search={way.search ?? {}}
      variant="default"
      size="compact-sm"
    >
      {way.label}
    </ButtonLink>
  );
}
