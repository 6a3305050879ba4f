// What to do about a refusal: a link to the credits, the key or the model concerned.
import { useContext } from "react";
import { ABOUT_KEY } from "../../src/domain/refusal-concerns.ts";
import { MembershipContext } from "../membership.tsx";
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
  /** The id of the key, on pages about keys. */
  key?: string;
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
  key ? { page: "keys", key, label: answerTexts.next.key } : { page: "keys", label: answerTexts.next.keys };
const theModel = ({ model }: Concern): Way =>
  model
    ? { page: "models", label: answerTexts.next.model, search: { search: model } }
    : { page: "models", label: answerTexts.next.models };

const NEXT: Record<string, (of: Concern) => Way | undefined> = {
  insufficient_credits: billing,
  paid_workspace_required: billing,
  rate_limit_exceeded: (of) => (of.key ? theKey(of) : undefined), // otherwise it is about the page itself
  research_entitlement_required: research,
  model_not_found: ({ org }) => theModel({ org }),
  context_length_exceeded: theModel,
};

const wayOf = (code: string): ((of: Concern) => Way | undefined) | undefined =>
  NEXT[code] ??
  ((ABOUT_KEY as readonly string[]).includes(code)
    ? theKey
    : code.startsWith("route_")
      ? theModel
      : undefined);

interface NextStepProps {
  code: string;
  of: Concern;
  /** The page's primary action. */
  main?: boolean;
}

export function NextStep({ code, of, main = false }: NextStepProps) {
  const membership = useContext(MembershipContext);
  const way = wayOf(code)?.(of);
  if (way === undefined || (membership !== null && !membership.sees(way.page))) return null;
  return (
    <ButtonLink
      to={way.key === undefined ? path.organization(of.org, way.page) : path.key(of.org, way.key)}
      search={way.search ?? {}}
      variant={main ? "filled" : "default"}
      size="compact-sm"
    >
      {way.label}
    </ButtonLink>
  );
}
