// Screenshots of every page on generated data, wide and narrow, for docs/screenshots/. With `all` after the folder:
// on three screens, light and dark, in full height, to be reviewed one by one. With `trouble`: of what appears only
// when something is wrong. `./tollgate-bun test/browser/screenshots.ts [FOLDER] [all|trouble]`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";
import { answerTexts, pageNames } from "../../dashboard/components/texts.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { operatorLedgerTexts } from "../../dashboard/pages/operator/ledger/texts.ts";
import { playgroundTexts } from "../../dashboard/pages/playground/texts.ts";
import { sharedBrowser } from "./chromium.ts";
import { type Dashboard, DESKTOP, OPERATOR, PHONE, startDashboard, Visitor } from "./dashboard.ts";
import { WIDER } from "./fitting.ts";
import { startSeeded } from "./seeded.ts";
import { seedTrouble } from "./fixture-trouble.ts";

const tails = async (page: Page): Promise<void> => {
  await page.getByText(activityTexts.crowded).waitFor();
};

/** Until then a chart's figures are a table. */
const drawn = async (page: Page): Promise<void> => {
  await page.locator(".recharts-surface").first().waitFor();
};

/** Near its limit, and refused now and then. */
const KEY = "Support assistant";

/** Pages that show something only after a click, or after a while. */
const BEFORE: Record<string, (page: Page) => Promise<void>> = {
  playground: async (page) => {
    await page.getByLabel(playgroundTexts.message, { exact: true }).fill("What is a toll gate?");
    await page.getByText(playgroundTexts.isHeld).waitFor();
    await page.getByRole("button", { name: playgroundTexts.send, exact: true }).click();
    await page.getByText(answerTexts.phases.settled, { exact: true }).waitFor();
  },
  overview: drawn,
  key: async (page) => {
    await page
      .getByRole("region", { name: pageNames.keys })
      .getByRole("link", { name: KEY, exact: true })
      .click();
    await drawn(page);
  },
  usage: drawn,
  activity: drawn,
  "operator-home": drawn,
  "trouble-tails": tails,
  "trouble-tails-swapped": tails,
  "operator-ledger": async (page) => {
    await page.getByRole("button", { name: operatorLedgerTexts.run }).click();
    await page.getByText(operatorLedgerTexts.ok).waitFor();
  },
};

const [into, only] = process.argv.slice(2);
const folder = into ?? join(import.meta.dir, "../../docs/screenshots");

interface Shots {
  /** Light on a desktop, dark on a phone. */
  swapped?: boolean;
  /** On a screen as high as the page, so that its frame reaches its end; a drawer fills a normal screen. */
  whole?: boolean;
}

async function picture(
  dashboard: Dashboard,
  email: string,
  pages: readonly [string, string][],
  { swapped = false, whole = false }: Shots = {},
): Promise<void> {
  for (const [kind, size] of [
    ["desktop", DESKTOP],
    ["phone", PHONE],
  ] as const) {
    const visitor = await dashboard.visitor(email, size);
    await visitor.page.emulateMedia({ colorScheme: (kind === "phone") === swapped ? "light" : "dark" });
    for (const [name, address] of pages) {
      await visitor.open(address);
      await BEFORE[name]?.(visitor.page);
      const isHigh = whole && (await visitor.page.getByRole("dialog").count()) === 0;
      if (isHigh) await visitor.resize({ ...size, height: await visitor.height() });
      await visitor.page.screenshot({ path: join(folder, `${name}-${kind}.png`) });
      if (isHigh) await visitor.resize(size);
      console.log(`${name}-${kind}.png`);
    }
    await visitor.leave();
  }
}

/** The screens of the pictures: those in the README, and all that pages are reviewed on. */
const KEPT = [
  { name: "desktop", scheme: "light", size: { width: 1440, height: 900 } },
  { name: "phone", scheme: "dark", size: PHONE },
] as const;
const ALL = (["light", "dark"] as const).flatMap((scheme) =>
  [
    { name: "desktop", size: { width: 1440, height: 900 } },
    { name: "laptop", size: { width: 1024, height: 768 } },
    { name: "phone", size: PHONE },
  ].map(({ name, size }) => ({ name: `${name}-${scheme}`, scheme, size })),
);

/** Every page of both, one screen after the other: one browser and one sign-in per person. */
async function lived(): Promise<void> {
  const gateway = await startSeeded();
  const screens = only === "all" ? ALL : KEPT;
  try {
    const people: [string, [string, string][]][] = [
      [
        gateway.owner,
        [
          ...ORGANIZATION_PAGES.map((page): [string, string] => [page, path.organization(gateway.org, page)]),
          ["key", path.organization(gateway.org, "keys")],
        ],
      ],
      [gateway.operator, OPERATOR_PAGES.map((page) => [`operator-${page}`, path.operator(page)])],
    ];
    for (const [email, pages] of people) {
      const visitor = await Visitor.come(await sharedBrowser(), gateway.url, KEPT[0].size);
      await visitor.beSignedIn(email);
      for (const { name: screen, scheme, size } of screens) {
        await visitor.page.emulateMedia({ colorScheme: scheme });
        await visitor.page.setViewportSize(size);
        for (const [name, address] of pages) {
          await visitor.open(address);
          await BEFORE[name]?.(visitor.page);
          await visitor.page.evaluate<void>("document.activeElement?.blur(); scrollTo(0, 0)");
          await visitor.page.addStyleTag({ content: ".skip-link { display: none }" });
          await visitor.page.screenshot({
            path: join(folder, `${name}-${screen}.png`),
            fullPage: only === "all",
          });
          const wider = await visitor.page.evaluate<string>(WIDER);
          console.log(
            `${name}-${screen}.png`,
            ...visitor.complained(),
            wider && `wider than its frame: ${wider}`,
          );
        }
      }
      await visitor.leave();
    }
  } finally {
    await gateway.stop();
  }
}

/** Each in all four: the desktop's scheme on the phone too, in separate files. */
async function troubled(): Promise<void> {
  const dashboard = await startDashboard({ configure: (config) => (config.payments.driver = "test") });
  try {
    const { org, owner, rejected, end } = await seedTrouble(dashboard);
    const activity = path.organization(org, "activity");
    const ofOwner: [string, string][] = [
      ["trouble-billing", path.organization(org, "billing")],
      ["trouble-rejected", `${activity}?req=${rejected}`],
      ["trouble-tails", `${activity}?live=true`],
    ];
    const ofOperator: [string, string][] = [
      ["trouble-quarantine", path.operator("ledger")],
      ["trouble-doubts", path.operator("providers")],
      ["trouble-keys", path.operator("people")],
    ];
    for (const swapped of [false, true]) {
      const named = (pages: [string, string][]): [string, string][] =>
        pages.map(([name, address]) => [swapped ? `${name}-swapped` : name, address]);
      await picture(dashboard, owner, named(ofOwner), { swapped, whole: true });
      await picture(dashboard, OPERATOR, named(ofOperator), { swapped, whole: true });
    }
    end();
  } finally {
    await dashboard.stop();
  }
}

mkdirSync(folder, { recursive: true });
await (only === "trouble" ? troubled() : lived());
process.exit(0);
