// The options of `npm run bench`, checked before minutes of measuring begin.
import { parseArgs } from "node:util";
import { messageOf } from "../src/domain/error-message.ts";
import { MEASURES, type NamedMeasure } from "./measures.ts";
import { LITELLM } from "./litellm/peer.ts";
import { LEAN_GATEWAYS, TOLLGATES } from "./peer.ts";
import { PEERS, root } from "./peers.ts";
import { FULL, QUICK, type Plan } from "./plan.ts";
import { RIVALS_MEASURES, RIVALS_PAGE } from "./rivals.ts";

export interface Options {
  plan: Plan;
  measures: readonly NamedMeasure[];
  /** True if a peer takes part; controls always do. */
  wants: (peer: string) => boolean;
  /** The commit that this tree is compared with; null without `--compare`. */
  compare: string | null;
  /** True if the page of rivals is written from this run. */
  rivals: boolean;
  /** True if nothing was left out: the results are worth keeping. */
  whole: boolean;
}

const CONTROLS = PEERS.filter(({ control }) => control).map(({ name }) => name);
const OTHERS = PEERS.filter(({ control, apart }) => !control && apart !== true).map(({ name }) => name);
/** Peers that take long to install and load run only with the ones they are compared with. */
const RIVALS = [...OTHERS, LITELLM, ...TOLLGATES];
const KNOWN = [...RIVALS, ...LEAN_GATEWAYS];
const APART_PEERS = [LITELLM, ...LEAN_GATEWAYS];
const NAMES = MEASURES.map(({ name }) => name);
const APART = MEASURES.filter(({ apart }) => apart).map(({ name }) => name);
/** Ranges from fewer rounds, or from code that is still being compiled, prove little. */
const COMPARED = { rounds: 5, firstWarmUpMs: 3_000 };

const USAGE = `npm run bench -- [--quick] [--only "NAME,NAME"] [--peers "NAME,NAME"] [--rounds N] [--compare REVISION | --rivals]
Figures (--only): ${NAMES.join(", ")}. Only where they are named: ${APART.join(", ")}.
Peers (--peers, none: the controls alone): ${KNOWN.join(", ")}; beside them always ${CONTROLS.join(", ")}.
Only where they are named: ${APART_PEERS.join(", ")} (the last with tollgate-postgres).
--compare measures REVISION and this tree in the same rounds, each on stores of its own, and prints what differs; rivals
take part where --peers names them. --rivals writes ${RIVALS_PAGE}.`;

/** Prints the usage and exits, if asked to or on an unknown option. */
export function readOptions(): Options {
  const asked = parse();
  const { peers, rivals, compare } = asked;
  const only = rivals ? RIVALS_MEASURES : asked.only;
  const given = asked.quick ? QUICK : FULL;
  const { rounds, firstWarmUpMs } = compare === null && !rivals ? given : atLeast(given, COMPARED);
  const plan = { ...given, firstWarmUpMs, rounds: asked.rounds ?? rounds };
  const known = compare === null ? [...OTHERS, ...TOLLGATES] : TOLLGATES;
  const wanted = new Set(peers ?? (rivals ? RIVALS : known));
  return {
    plan,
    measures: MEASURES.filter(({ name, apart }) => only?.includes(name) ?? apart !== true),
    wants: (peer) => CONTROLS.includes(peer) || wanted.has(peer),
    compare,
    rivals,
    whole: only === undefined && peers === undefined && asked.rounds === undefined && compare === null,
  };
}

const atLeast = (plan: Plan, least: typeof COMPARED): typeof COMPARED => ({
  rounds: Math.max(plan.rounds, least.rounds),
  firstWarmUpMs: Math.max(plan.firstWarmUpMs, least.firstWarmUpMs),
});

function parse() {
  const flag = { type: "boolean", default: false } as const;
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      options: {
        quick: flag,
        only: text,
        peers: text,
        rounds: text,
        compare: text,
        rivals: flag,
        help: flag,
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const { quick, rounds, rivals } = values;
    const compare = values.compare === undefined ? null : commitOf(values.compare);
    const only = namesIn("only", values.only, NAMES);
    const peers = namesIn("peers", values.peers === "none" ? "" : values.peers, KNOWN);
    if (only?.length === 0) throw new Error("--only names no figure");
    if (rounds !== undefined && !/^[1-9]\d?$/.test(rounds))
      throw new Error(`--rounds ${rounds} is no number of rounds`);
    if (rivals && (only !== undefined || compare !== null))
      throw new Error("--rivals names its figures by itself");
    return { quick, compare, rivals, only, peers, rounds: rounds === undefined ? undefined : Number(rounds) };
  } catch (error) {
    console.error(`${messageOf(error)}\n${USAGE}`);
    process.exit(2);
  }
}

/** Throws for a name that is not in `known`. */
function namesIn(option: string, list: string | undefined, known: readonly string[]): string[] | undefined {
  const names = list
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`--${option} does not know: ${unknown.join(", ")}`);
  return names;
}

/** The hash of a revision, which stays the same when a branch moves on. Throws if git does not know it. */
function commitOf(revision: string): string {
  const asked = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const { success, stdout } = Bun.spawnSync(asked, { cwd: root, stderr: "ignore" });
  if (!success) throw new Error(`--compare: git knows no revision ${revision}`);
  return stdout.toString().trim();
}
