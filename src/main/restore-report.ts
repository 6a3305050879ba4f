// The report of a restore, kept in the data directory from before the store is in its place: a process that is killed
// before it has printed what was lost must not be the only one that knew.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { flush } from "../lib/flush.ts";
import { privateFile } from "../store/private-file.ts";

export interface RestoreReport {
  /** For programs: one JSON document. */
  json: string;
  /** For people. */
  text: string;
}

const PREFIX = "restored-";
const SUFFIX = ".json";

/** `name`: of this restore, and of its second run after a kill. On disk on return. */
export function keepReport(dataDirectory: string, name: string, { json, text }: RestoreReport): void {
  const file = fileOf(dataDirectory, name);
  const fresh = `${file}.part`;
  privateFile(fresh);
  writeFileSync(fresh, `${JSON.stringify({ report: JSON.parse(json) as unknown, text }, null, 2)}\n`, {
    flush: true,
  });
  renameSync(fresh, file);
  flush(dataDirectory);
}

/** The report that a killed run of this restore has left; null if there is none. */
export function reportOf(dataDirectory: string, name: string): RestoreReport | null {
  const file = fileOf(dataDirectory, name);
  return existsSync(file) ? readReport(file) : null;
}

/** The files of all reports, newest first. */
export const restoreReports = (dataDirectory: string): string[] =>
  existsSync(dataDirectory)
    ? readdirSync(dataDirectory)
        .filter((name) => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
        .toSorted()
        .reverse()
        .map((name) => join(dataDirectory, name))
    : [];

/** Those of other restores. */
export const reportsBefore = (dataDirectory: string, name: string): string[] =>
  restoreReports(dataDirectory).filter((file) => file !== fileOf(dataDirectory, name));

/** Throws if the file is not a report. */
export function readReport(file: string): RestoreReport {
  const { report, text } = JSON.parse(readFileSync(file, "utf8")) as { report: object; text: string };
  return { json: JSON.stringify(report), text };
}

const fileOf = (dataDirectory: string, name: string): string => join(dataDirectory, PREFIX + name + SUFFIX);
