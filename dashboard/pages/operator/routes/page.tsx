// Routes and their signed releases: state with its reason, freshness, prices, what ends when; publish, disable, enable.
// Signing is never in the browser: private keys stay with `./tollgate release sign`.
import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../../api/read.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Page } from "../../../components/page.tsx";
import { ModelLimits } from "../../../components/rate-limits.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { text, useFilters } from "../../../filters.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { operatorRoutesTexts as words } from "./texts.ts";
import { FocusBack } from "../../../components/opener.ts";
import { DisableDialog, EnableDialog } from "./acts.tsx";
import { type Act, routeColumns } from "./columns.tsx";
import { Calendar } from "./expiry.tsx";
import { PublishDialog } from "./publish.tsx";
import { History, TrustedKeys } from "./releases.tsx";

/** The route whose releases are shown. */
const SHAPE = { history: text() };

export function RoutesPage() {
  const routes = useQuery({ ...read("GET /operator/routes", {}), refetchInterval: 5_000 });
  const [{ history }, setFilters] = useFilters(SHAPE);
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  const publish = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "publish" })}>
      {words.publish}
    </Button>
  );
  return (
    <Page title={operatorPageNames.routes} lead={words.lead} actions={publish}>
      <Loaded query={routes}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="routes" action={publish}>
              {words.empty}
            </Empty>
          ) : (
            <>
              <DataTable
                label={operatorPageNames.routes}
                rows={data}
                rowKey={({ route }) => route}
                columns={routeColumns({ setAct, showHistory: (route) => setFilters({ history: route }) })}
              />
              <Calendar routes={data} />
            </>
          )
        }
      </Loaded>
      <TrustedKeys routes={routes.data?.data ?? []} />
      {history !== "" && <History route={history} onClose={() => setFilters({ history: "" })} />}
      {act?.kind === "publish" && <PublishDialog onClose={close} />}
      {act?.kind === "rates" && (
        <Modal opened onClose={close} title={words.ratesOf(act.model)} size="lg">
          <FocusBack />
          <ModelLimits model={act.model} />
        </Modal>
      )}
      {act?.kind === "disable" && <DisableDialog route={act.route} onClose={close} />}
      {act?.kind === "enable" && <EnableDialog route={act.route} onClose={close} />}
    </Page>
  );
}
