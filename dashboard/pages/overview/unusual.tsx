// A day that is unlike the usual ones, in one sentence, with the way to what makes it so.
import { Alert, Anchor } from "@mantine/core";
import type { Answer } from "../../api/routes.ts";
import { Icon } from "../../components/icon.tsx";
import { BareLink } from "../../components/link.tsx";
import { formatMoney } from "../../format/money.ts";
import { addDays, today } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { overviewTexts as words } from "./texts.ts";

type Unusual = Answer<"GET /orgs/{org}/overview">["unusual"];

export function UnusualDay({ org, of }: { org: string; of: Unusual }) {
  if (of === null) return null;
  const { key, model } = of;
  const whose = [
    ...(key === null ? [] : [words.ofKey(key.percent, key.name)]),
    ...(model === null ? [] : [words.ofModel(model.percent, model.id)]),
  ];
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warning" />} styles={PLAIN}>
      <Anchor
        size="sm"
        c="var(--mantine-color-text)"
        td="underline"
        className="name"
        renderRoot={(props) => (
          <BareLink
            to={path.organization(org, "usage")}
            search={{
              from: today(),
              to: addDays(today(), 1),
              group_by: key === null ? "model" : "key",
              ...(key !== null && { key: key.id }),
            }}
            {...props}
          />
        )}
      >
        {words.unusual(of.times, formatMoney(of.spent_usd), formatMoney(of.usual_usd), whose)}
      </Anchor>
    </Alert>
  );
}

const PLAIN = { icon: { color: "var(--mantine-color-text)" } };
