// A refusal of the gateway: sentence, code and request id, and the next step.
import { Stack } from "@mantine/core";
import { ApiError } from "../api/client.ts";
import { type OrganizationPage, path } from "../path-builder.ts";
import { texts } from "../texts.ts";
import { ButtonLink } from "./link.tsx";
import { Failure } from "./states.tsx";

const NEXT: Record<string, { page: OrganizationPage; label: string }> = {
  insufficient_credits: { page: "billing", label: texts.answer.next.billing },
  paid_workspace_required: { page: "billing", label: texts.answer.next.billing },
  key_spend_limit_reached: { page: "keys", label: texts.answer.next.keys },
  api_key_revoked: { page: "keys", label: texts.answer.next.keys },
  scope_not_permitted: { page: "keys", label: texts.answer.next.keys },
  research_entitlement_required: { page: "research", label: texts.answer.next.research },
  model_not_found: { page: "models", label: texts.answer.next.models },
  context_length_exceeded: { page: "models", label: texts.answer.next.models },
};

export function Refused({ error, org }: { error: unknown; org: string }) {
  const code = error instanceof ApiError ? error.code : "";
  const next = NEXT[code] ?? (code.startsWith("route_") ? NEXT["model_not_found"] : undefined);
  return (
    <Stack gap="xs" align="stretch">
      <Failure error={error} />
      {next !== undefined && (
        <div>
          <ButtonLink to={path.organization(org, next.page)} variant="default" size="compact-sm">
            {next.label}
          </ButtonLink>
        </div>
      )}
    </Stack>
  );
}
