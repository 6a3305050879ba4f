// Requests like any program's, paid by a key of the organization: the bound before one is sent, the stream with its
// reasoning apart, the exact charge after.
import { useQuery } from "@tanstack/react-query";
import { keysQuery } from "../../api/keys.ts";
import { modelsQuery } from "../../api/models.ts";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { Desk } from "./desk.tsx";

const words = texts.playground;

export function PlaygroundPage() {
  const { may } = useMembership();
  return (
    <Page title={texts.pages.playground} lead={words.lead}>
      {may("play") ? <Playground /> : <Empty icon="playground">{words.mayNot}</Empty>}
    </Page>
  );
}

function Playground() {
  const { org } = useMembership();
  const models = useQuery(modelsQuery(org.id));
  const keys = useQuery(keysQuery(org.id));
  return (
    <Loaded query={models}>
      {({ data: catalogue }) => (
        <Loaded query={keys}>
          {({ data }) => {
            const active = data.filter(({ status }) => status === "active");
            if (catalogue.length === 0) return <Empty icon="models">{words.noModels}</Empty>;
            if (active.length > 0) return <Desk models={catalogue} keys={active} />;
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
