// The models side by side: each numeric column can be sorted.
import { Box, Stack, Text } from "@mantine/core";
import { givesWords } from "../../api/models.ts";
import type { Row } from "../../api/routes.ts";
import type { Column } from "../../components/data-table.tsx";
import { Link } from "../../components/link.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { ExactMoney } from "../../components/figures.tsx";
import { formatCount, formatShare } from "../../format/count.ts";
import { heightOf } from "../../format/money.ts";
import { formatSpan } from "../../format/time.ts";
import { modelsTexts as words } from "./texts.ts";

type Model = Row<"GET /orgs/{org}/models">;

/** Below every real figure: models without one are last. */
const UNSEEN = -1;

const price = (
  title: string,
  name: "input_per_million" | "cached_input_per_million" | "output_per_million",
): Column<Model> => ({
  title,
  figures: true,
  order: (of) => heightOf(of.price[name]),
  cell: (of) => (name === "input_per_million" || givesWords(of) ? <ExactMoney usd={of.price[name]} /> : "–"),
});

export const modelColumns: readonly Column<Model>[] = [
  {
    title: words.model,
    always: true,
    order: ({ id }) => id,
    cell: ({ id, access, state }) => (
      <Stack gap={0}>
        <Link
          to="."
          search={(now: object) => ({ ...now, model: id })}
          resetScroll={false}
          size="sm"
          className="name"
        >
          {id}
        </Link>
        {state !== "live" && (
          <Box hiddenFrom="sm">
            <StateBadge state={state} />
          </Box>
        )}
        {access !== "open" && (
          <Text size="xs" c="dimmed">
            {words.access[access]}
          </Text>
        )}
      </Stack>
    ),
  },
  { title: words.columns.state, saidFirst: true, cell: ({ state }) => <StateBadge state={state} /> },
  { ...price(words.prices.input, "input_per_million"), always: true },
  { ...price(words.prices.cached, "cached_input_per_million"), wider: true },
  { ...price(words.prices.output, "output_per_million"), always: true },
  {
    title: words.context,
    figures: true,
    order: ({ context_window }) => context_window,
    cell: ({ context_window }) => formatCount(context_window),
  },
  {
    title: words.firstToken,
    figures: true,
    order: ({ seen }) => seen?.first_part_ms_p50 ?? UNSEEN,
    cell: ({ seen }) =>
      seen === null || seen.first_part_ms_p50 === null ? "–" : formatSpan(seen.first_part_ms_p50),
  },
  {
    title: words.uptime,
    figures: true,
    order: ({ seen }) => seen?.uptime ?? UNSEEN,
    cell: ({ seen }) => (seen === null ? "–" : formatShare(seen.uptime, 1)),
  },
  {
    title: words.filters.can,
    wider: true,
    cell: (of) => (
      <Text size="xs" c="dimmed">
        {(["tools", "images", "files", "json_schema"] as const)
          .filter((one) => of[one])
          .map((one) => words.can[one])
          .join(", ")}
      </Text>
    ),
  },
];
