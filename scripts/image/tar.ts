// A tar archive (POSIX ustar) whose bytes depend only on its contents: entries sorted by path, one owner, one time.

export interface Entry {
  /** Relative to the root, without a leading slash. */
  path: string;
  mode: number;
  owner?: number;
  /** A file's bytes, or a link's target as text; a folder has none. */
  content?: Uint8Array | { link: string };
}

const BLOCK = 512;

/** `seconds`: the modification time of all entries, in seconds since 1970. */
export function tarOf(entries: readonly Entry[], seconds: number): Uint8Array {
  const blocks = entries
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap((entry) => {
      const content = entry.content instanceof Uint8Array ? entry.content : new Uint8Array();
      const rest = (BLOCK - (content.length % BLOCK)) % BLOCK;
      return [header(entry, content.length, seconds), content, new Uint8Array(rest)];
    });
  return Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)]);
}

function header({ path, mode, owner = 0, content }: Entry, size: number, seconds: number): Uint8Array {
  const link = content !== undefined && !(content instanceof Uint8Array) ? content.link : "";
  const folder = content === undefined;
  const name = folder ? `${path}/` : path;
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(link) > 100)
    throw new Error(`${name}: longer than a tar header's name`);
  const block = Buffer.alloc(BLOCK);
  const text = (value: string, at: number): void => void block.write(value, at);
  const octal = (value: number, at: number, width: number): void =>
    text(value.toString(8).padStart(width - 1, "0"), at);
  text(name, 0);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(seconds, 136, 12);
  text(" ".repeat(8), 148);
  text(folder ? "5" : link === "" ? "0" : "2", 156);
  text(link, 157);
  text("ustar\0" + "00", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
