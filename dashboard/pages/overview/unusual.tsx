// An unusual day in one sentence, with a link to what makes it so.
import type { Answer } from "../../api/routes.ts";
import { formatMoney } from "../../format/money.ts";
import { addDays, today } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { overviewTexts as words } from "./texts.ts";
import { Warning } from "./warning.tsx";

type Unusual = NonNullable<Answer<"GET /orgs/{org}/overview">["unusual"]>;

export function UnusualDay({ org, of }: { org: string; of: Unusual }) {
  const { key, model } = of;
  const whose = [
    ...(key === null ? [] : [words.ofKey(key.percent, key.name)]),
    ...(model === null ? [] : [words.ofModel(model.percent, model.id)]),
  ];
  return (
    <Warning
      to={path.organization(org, "usage")}
      search={{
        from: today(),
        to: addDays(today(), 1),
        group_by: key === null ? "model" : "key",
        ...(key !== null && { key: key.id }),
      }}
    >
      {words.unusual(of.times, formatMoney(of.spent_usd), formatMoney(of.usual_usd), whose)}
    </Warning>
  );
}
