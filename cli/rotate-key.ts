// `db rotate-key`: makes a new data key and re-encrypts everything that depends on it.
import type { Command } from "commander";
import { counted } from "../src/domain/counted.ts";
import type { Rotation } from "../src/main/rotating.ts";
import { type Outcome, report, say } from "./report.ts";
import { assertStore, storeOf, withConfig } from "./store-place.ts";

const TELL_EVERY_MS = 1_000;

export function addRotateKey(db: Command): void {
  withConfig(db.command("rotate-key"))
    .description("change the data key and reseal everything sealed with it; all gateways must be stopped")
    .option("--leaked", "the old key may have leaked: receipts it signed stop verifying")
    .action((_: object, command: Command) =>
      report(command, async () => {
        const { dataDir, databaseUrl } = await storeOf(command);
        if (databaseUrl === null) await assertStore(dataDir);
        const leaked = command.opts<{ leaked?: true }>().leaked === true;
        const { rotateKey } = await import("../src/main/rotate-key.ts");
        const { rotation, kept } = await rotateKey({ dataDir, databaseUrl, leaked, told: progress(), say });
        return await outcomeOf({ dataDir, shared: databaseUrl !== null, leaked, rotation, kept });
      }),
    );
}

/** Prints a line a second once it takes longer than that. */
function progress(): (done: number, of: number) => void {
  let toldAtMs = performance.now();
  return (done, of) => {
    if (performance.now() - toldAtMs < TELL_EVERY_MS) return;
    toldAtMs = performance.now();
    say(`${counted(done, "stored answer")} of ${of} …`);
  };
}

interface Done {
  dataDir: string;
  /** True if other gateways may have data directories of their own. */
  shared: boolean;
  leaked: boolean;
  rotation: Rotation | null;
  kept: string | null;
}

async function outcomeOf(done: Done): Promise<Outcome> {
  const { dataDir, leaked, rotation, kept } = done;
  const { commandOn } = await import("../src/config/data-dir.ts");
  const document = {
    data_dir: dataDir,
    completed_earlier_run: rotation === null,
    ...(rotation !== null && {
      leaked,
      answers: rotation.answers,
      channels: rotation.channels,
      second_factors: rotation.factors,
      sessions_ended: rotation.sessions,
    }),
    former_key: kept,
  };
  const what = rotation === null ? EARLIER : wordsOf(rotation, leaked);
  return {
    json: JSON.stringify(document),
    text: [...what, ...nextSteps(done, commandOn(dataDir))].join("\n"),
  };
}

const EARLIER = [
  "An earlier run changed the data key but was interrupted before it finished: its new key is now in place. Nothing was changed twice; to change the key once more, run this again.",
];

function wordsOf({ answers, channels, factors, sessions }: Rotation, leaked: boolean): string[] {
  const sealed = `The data key was changed: ${counted(answers.resealed, "stored answer")}, ${counted(channels.resealed, "secret")} of webhook channels and ${counted(factors.resealed, "second factor")} are sealed with the new one.`;
  const unreadable = [
    [answers.unreadable, "stored answer", ""],
    [channels.unreadable, "secret", " of webhook channels: create those channels again"],
    [factors.unreadable, "second factor", ": ./tollgate people reset EMAIL --two-factor"],
  ] as const;
  return [
    sealed,
    ...unreadable
      .filter(([count]) => count > 0)
      .map(([count, one, more]) => `The old key did not open ${counted(count, one)}${more}.`),
    `${counted(sessions, "session")} ended: everybody has to sign in again.`,
    leaked
      ? "Receipts signed by the old key no longer verify, since anyone who has the key can forge them. Fetch the ones you keep again."
      : "Receipts signed by the old key still verify.",
  ];
}

function nextSteps({ shared, dataDir, kept }: Done, tollgate: string): string[] {
  const others = shared
    ? [
        `→ Put ${dataDir}/data.key into the data directory of each other gateway, replacing the old one: ./tollgate --data-dir OTHER db key FILE --replace`,
      ]
    : [];
  const former =
    kept === null
      ? []
      : [
          `→ The old key is kept as ${kept}, for backups that were made with it. Destroy it and all its copies once you no longer need those backups.`,
        ];
  return [
    ...others,
    `→ Keep a copy of ${dataDir}/data.key in a separate place, make a new backup of the store, and start: ${tollgate} serve`,
    ...former,
  ];
}
