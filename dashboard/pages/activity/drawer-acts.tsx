// The actions for an open request: fix what refused it, send one like it from a terminal or in the playground.
import { Group } from "@mantine/core";
import { SPOKEN_SURFACES } from "../../../src/domain/surfaces.ts";
import type { Row } from "../../api/routes.ts";
import { CopyButton } from "../../components/copy.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { NextStep } from "../../components/next-step.tsx";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { printCurl } from "./curl.ts";
import { activityTexts as words } from "./texts.ts";

export function SendAgain({ of: row }: { of: Row<"GET /orgs/{org}/activity"> }) {
  const { org, baseUrl, may } = useMembership();
  const { code, model, surface, stream } = row;
  if (model === null && code === null) return null;
  const outputTokens = row.asked?.output_tokens ?? null;
  const spoken = SPOKEN_SURFACES.some((one) => one === surface);
  return (
    <Group gap="xs">
      {code !== null && <NextStep code={code} of={{ org: org.id, key: row.key.id, model }} main />}
      {model !== null && (
        <CopyButton
          text={printCurl({ baseUrl, model, surface, stream, outputTokens })}
          label={words.copyCurl}
        />
      )}
      {model !== null && spoken && may("play") && (
        <ButtonLink
          to={path.organization(org.id, "playground")}
          search={{ model, ...(surface !== null && { surface }) }}
          variant="default"
          size="compact-sm"
        >
          {words.inPlayground}
        </ButtonLink>
      )}
    </Group>
  );
}
