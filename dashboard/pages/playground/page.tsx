// Real requests, paid by a key of the organization: the bound before one is sent, the stream with its reasoning shown
// separately, the exact charge afterwards.
import { useQuery } from "@tanstack/react-query";
import { givesWords } from "../../api/models.ts";
import { read } from "../../api/read.ts";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { pageNames } from "../../components/texts.ts";
import { playgroundTexts as words } from "./texts.ts";
import { Conversations } from "./conversations.tsx";

export function PlaygroundPage() {
  const { may } = useMembership();
  return (
    <Page title={pageNames.playground} lead={words.lead}>
      {may("play") ? <Playground /> : <Empty icon="playground">{words.mayNot}</Empty>}
    </Page>
  );
}

function Playground() {
  const { org } = useMembership();
  const models = useQuery({
    ...read("GET /orgs/{org}/models", { org: org.id }),
    refetchInterval: 15_000,
  });
  const keys = useQuery(read("GET /orgs/{org}/keys", { org: org.id }, { state: "usable" }));
  return (
    <Loaded query={models}>
      {({ data: catalogue }) => (
        <Loaded query={keys}>
          {({ data }) => {
            const models = catalogue.filter(givesWords);
            if (models.length === 0) return <Empty icon="models">{words.noModels}</Empty>;
            if (data.length > 0) return <Conversations models={models} keys={data} />;
            return (
              <Empty
                icon="keys"
                action={<ButtonLink to={path.organization(org.id, "keys")}>{words.createKey}</ButtonLink>}
              >
                {words.noKey}
              </Empty>
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}
