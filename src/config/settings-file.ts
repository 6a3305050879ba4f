// Reads `tollgate.yaml` into plain values. Keeps the position of each value, so that every complaint can name a line,
// and replaces `${NAME}` from the environment and `${file:/PATH}` by a file's text: what is missing or empty is a complaint,
// never an empty secret.
import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { messageOf } from "../domain/error-message.ts";
import { settingsDigest } from "./file-digest.ts";
import { LineCounter, isNode, parseDocument, type YAMLParseError } from "yaml";

export type Path = readonly (string | number)[];

/** A problem with one setting. `path` is empty if the problem is with the whole file, or with `line` of it. */
export interface Problem {
  path: Path;
  message: string;
  line?: number;
}

export interface SettingsFile {
  values: unknown;
  problems: Problem[];
  /** Returns the line of a value, 1-based; null if it is not in the file. */
  lineOf(path: Path): number | null;
  /** SHA-256 of the text, hex; null if there is no file. */
  digest: string | null;
}

const REFERENCE = /\$\{(?:([A-Za-z_][A-Za-z0-9_]*)|file:([^{}]*))\}/g;
/** Secrets are short, keys of cloud accounts a few KB. */
const SECRET_BYTES_MAX = 64 * 1024;

/** Parses YAML text. Aliases are bounded, duplicate keys are rejected, tags and merge keys have no effect. */
export function parseSettingsFile(text: string, env: Record<string, string | undefined>): SettingsFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { uniqueKeys: true, lineCounter, stringKeys: true });
  const lineOf = (path: Path): number | null => {
    const node = document.getIn(path, true);
    return isNode(node) && node.range ? lineCounter.linePos(node.range[0]).line : null;
  };
  const digest = settingsDigest(text);
  const broken = document.errors[0];
  if (broken !== undefined) {
    return {
      values: null,
      problems: [notYaml(broken)],
      lineOf,
      digest,
    };
  }
  const problems: Problem[] = [];
  const values = replaceVariables(readTree(document.toJS({ maxAliasCount: 20 })), {
    env,
    problems,
    path: [],
  });
  return { values, problems, lineOf, digest };
}

/**
 * Formats a parse error on one line, without the position, which precedes it, and without the file's text, which may
 * hold secrets.
 */
function notYaml({ code, message, linePos }: YAMLParseError): Problem {
  const several = "this file has several documents (separated by ---); keep one";
  const [words = ""] = message.split(/ at line \d+, column \d+|\n/);
  const line = linePos?.[0].line;
  return {
    path: [],
    message: `is not valid YAML: ${code === "MULTIPLE_DOCS" ? several : words}`,
    ...(line !== undefined && { line }),
  };
}

/** An empty file means no settings. */
const readTree = (tree: unknown): unknown => tree ?? {};

interface Replacing {
  env: Record<string, string | undefined>;
  problems: Problem[];
  path: Path;
}

function replaceVariables(value: unknown, replacing: Replacing): unknown {
  if (typeof value === "string") return replaceInText(value, replacing);
  const inside = (key: string | number) => ({ ...replacing, path: [...replacing.path, key] });
  if (Array.isArray(value)) return value.map((item, index) => replaceVariables(item, inside(index)));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, replaceVariables(item, inside(key))]),
  );
}

function replaceInText(text: string, { env, problems, path }: Replacing): string {
  return text.replace(REFERENCE, (_, name: string | undefined, file = "") => {
    const { value, missing } = name === undefined ? textOf(file) : variable(name, env[name]);
    if (missing !== null) problems.push({ path, message: missing });
    return value;
  });
}

interface Replacement {
  value: string;
  /** What is wrong if there is no value. */
  missing: string | null;
}

function variable(name: string, value: string | undefined): Replacement {
  const state = value === undefined ? "not set" : "empty";
  return { value: value ?? "", missing: value ? null : `the environment variable ${name} is ${state}` };
}

/** The text of a file, without the line's end that editors add. */
function textOf(path: string): Replacement {
  const none = (why: string): Replacement => ({ value: "", missing: `the file ${path} ${why}` });
  if (!isAbsolute(path)) return none("must be named by its absolute path");
  try {
    const file = statSync(path);
    if (!file.isFile()) return none("is not a plain file");
    if (file.size > SECRET_BYTES_MAX) return none(`has more than ${SECRET_BYTES_MAX} bytes`);
    const value = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)).replace(/\r?\n$/, "");
    return value === "" ? none("is empty") : { value, missing: null };
  } catch (error) {
    return none(`cannot be read: ${messageOf(error)}`);
  }
}
