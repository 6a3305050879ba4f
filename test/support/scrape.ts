// Parses a scrape of /metrics strictly: what this refuses, Prometheus might refuse, too.

interface Family {
  name: string;
  type: string;
  help: string;
}

interface Sample {
  /** With the suffix, if it belongs to a histogram. */
  name: string;
  /** The metric that it belongs to. */
  family: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  families: Family[];
  samples: Sample[];
}

export const scrape = async (url: string): Promise<Scrape> =>
  readScrape(await (await fetch(`${url}/metrics`)).text());

/** Throws at the first line that is neither a sample nor a comment of the format. */
function readScrape(text: string): Scrape {
  const families = new Map<string, Family>();
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, kind, about = "", rest = ""] = /^# (HELP|TYPE) (\w+) (.*)$/.exec(line) ?? [];
    if (kind !== undefined) {
      const known = families.get(about) ?? { name: about, type: "", help: "" };
      if (kind === "TYPE" ? known.type !== "" : known.help !== "")
        throw new Error(`announced twice: ${line}`);
      families.set(about, kind === "TYPE" ? { ...known, type: rest } : { ...known, help: rest });
    } else samples.push(readSample(line, families));
  }
  return { families: [...families.values()], samples };
}

function readSample(line: string, families: ReadonlyMap<string, Family>): Sample {
  const [, name, inside, value = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const number = value === "+Inf" ? Infinity : Number(value);
  if (name === undefined || value === "" || (Number.isNaN(number) && value !== "NaN" && value !== "Nan"))
    throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (const [, label = "", quoted = ""] of (inside ?? "").matchAll(
    /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\.)*)"(?:,|$)/g,
  ))
    labels[label] = quoted.replaceAll('\\"', '"').replaceAll("\\n", "\n").replaceAll("\\\\", "\\");
  const family = families.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
  return { name, family, labels, value: number };
}
