// What is stored of a request: its idempotency key, the release that served it, the record for download.
import { Button, Code, Group, Text } from "@mantine/core";
import { type Answer, addressOf } from "../../api/routes.ts";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { download } from "../../components/secret-dialog.tsx";
import { formatSpan } from "../../format/time.ts";
import { Part } from "./drawer-part.tsx";
import { activityTexts as words } from "./texts.ts";

type RequestDetail = Answer<"GET /orgs/{org}/activity/{request}">;
type Request = NonNullable<RequestDetail["request"]>;

export const Idempotency = ({ of }: { of: NonNullable<RequestDetail["idempotency"]> }) => (
  <Part title={words.idempotency}>
    <Text size="sm" className="name">
      {of.key} · {of.caller_supplied ? words.fromCaller : words.generated}
    </Text>
    {of.caller_supplied && (
      <Text size="sm">
        {words.keyStates[of.state]} {of.until !== null && <Time at={of.until} />}
      </Text>
    )}
    {of.replays.map(({ id, at, waited_ms }) => (
      <Text key={id} size="sm">
        {words.replayed} <Time at={at} />
        {waited_ms !== null && `, ${words.waited(formatSpan(waited_ms))}`}, <ExactMoney usd="0" />
      </Text>
    ))}
    {of.content_hash !== null && (
      <Text size="xs" c="dimmed" className="name">
        {words.contentHash} <Code>{of.content_hash}</Code>
      </Text>
    )}
  </Part>
);

export const Route = ({ of }: { of: NonNullable<RequestDetail["route"]> }) => (
  <Part title={words.route}>
    <Text size="sm" className="name">
      {of.route} · {words.version(of.release_version)} · {of.tier}
    </Text>
    <Text size="xs" c="dimmed" className="name">
      {words.signedBy} {of.signed_by} · {words.issued} <Time at={of.issued_at} /> · {words.expires}{" "}
      <Time at={of.expires_at} />
    </Text>
    <Text size="xs" c="dimmed" className="name">
      {words.digest} <Code>{of.digest}</Code>
    </Text>
  </Part>
);

/** Which texts of a request are stored, and until when. */
function Content({ of: { content, idempotency } }: { of: RequestDetail }) {
  const until = idempotency?.until ?? null;
  const kept = until === null ? words.keptSoFar : words.answerKept;
  return (
    <Text size="xs" c="dimmed">
      {content === "not stored" ? words.notStored : kept}{" "}
      {content !== "not stored" && until !== null && <Time at={until} />}
    </Text>
  );
}

export function Raw({ org, of, detail }: { org: string; of: Request; detail: RequestDetail }) {
  const json = JSON.stringify(of.gateway, null, 2);
  return (
    <Part title={words.raw}>
      <Code block className="name">
        {json}
      </Code>
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() =>
            download(`${JSON.stringify(of, null, 2)}\n`, { name: `${of.id}.json`, type: "application/json" })
          }
        >
          {words.download}
        </Button>
        {of.state !== "running" && (
          <Button
            component="a"
            size="compact-sm"
            variant="default"
            href={addressOf("GET /orgs/{org}/activity/{request}/receipt", { org, request: of.id })}
            download={`receipt-${of.id}.json`}
          >
            {words.receipt}
          </Button>
        )}
        <Content of={detail} />
      </Group>
    </Part>
  );
}
