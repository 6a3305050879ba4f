// One small streamed request from the browser, paid by a key of the organization: what was held, what it cost.
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { callableModel } from "../../api/models.ts";
import { read } from "../../api/read.ts";
import { isRunning, useCompletion } from "../../completion.ts";
import { Answer } from "../../components/answer.tsx";
import { Icon } from "../../components/icon.tsx";
import { Link } from "../../components/link.tsx";
import { path } from "../../path-builder.ts";
import { welcomeTexts as words } from "./texts.ts";

interface TestRequestProps {
  org: string;
  /** The organization has credits left. Without, the button stays: a model may cost nothing. */
  canPay: boolean;
}

export function TestRequest({ org, canPay }: TestRequestProps) {
  const models = useQuery(read("GET /orgs/{org}/models", { org }));
  const keys = useQuery(
    read("GET /orgs/{org}/keys", { org }, { state: "usable", scope: "standard", limit: 1 }),
  );
  const { completion, start } = useCompletion(org);
  const model = callableModel(models.data?.data);
  const key = keys.data?.data[0];
  if (models.isPending || keys.isPending) return null;
  const missing = key === undefined ? words.needsKey : model === undefined ? words.needsModel : null;
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {missing ?? (canPay ? words.requestHelp(model?.id ?? "", key?.name ?? "") : words.needsCredits)}
      </Text>
      <Group gap="sm">
        <Button
          leftSection={<Icon name="playground" size={16} />}
          disabled={missing !== null}
          loading={isRunning(completion)}
          onClick={() =>
            void start({
              key: key?.id ?? "",
              request: {
                model: model?.id ?? "",
                messages: [{ role: "user", content: words.prompt }],
                max_tokens: 200,
                stream: true,
              },
            })
          }
        >
          {words.send}
        </Button>
        {completion.phase === "settled" && completion.requestId !== null && (
          <Link to={path.organization(org, "activity")} search={{ req: completion.requestId }} size="sm">
            {words.itsRow}
          </Link>
        )}
      </Group>
      <Answer of={completion} org={org} />
    </Stack>
  );
}
