// A statement as a document of A4 pages, to file and to print: the sums, movements, charges by model and key,
// and the chain's head, against which the ledger's entries can be checked later.
import { MISSING, PdfWriter } from "../lib/pdf-writer.ts";
import type { StatementJson } from "./shapes/statement.ts";

const [LEFT, RIGHT, TOP, BOTTOM] = [50, 545, 56, 790];
const LINE = 14;
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `2026-11` → `November 2026`. */
const monthName = (month: string): string =>
  `${MONTHS[Number(month.slice(5)) - 1] ?? month} ${month.slice(0, 4)}`;
/** All nine places, so that figures align. */
const dollars = (usd: string): string => {
  const [whole = "0", fraction = ""] = usd.replace("-", "").split(".");
  return `${usd.startsWith("-") ? "-" : ""}$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction}`;
};
const minus = (usd: string): string =>
  /[1-9]/.test(usd) && !usd.startsWith("-") ? `-${usd}` : usd.replace("-", "");
const counted = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
/** `2026-11-23 09:30:00 UTC`, without fractions of a second. */
const timeText = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

/** The complete file. */
export function statementPdf(statement: StatementJson): Uint8Array<ArrayBuffer> {
  const page = new StatementPage();
  page.heading(statement);
  page.sums(statement);
  if (statement.movements.length > 0 || statement.other_movements !== null) page.movements(statement);
  page.charges(statement);
  page.chain(statement);
  return page.bytes(statement);
}

class StatementPage {
  private readonly pdf = new PdfWriter();
  private y = TOP;

  heading({ org, month, made_at, final, to }: StatementJson): void {
    this.pdf.text("Statement", { x: LEFT, y: this.y + 6, size: 20, font: "bold" });
    this.pdf.text(monthName(month), { x: RIGHT, y: this.y + 6, size: 14, right: true });
    this.y += 30;
    this.pdf.text(org.name, { x: LEFT, y: this.y, size: 11, font: "bold", width: 300 });
    this.pdf.text(`Made ${timeText(made_at)}`, { x: RIGHT, y: this.y, grey: 0.4, right: true });
    this.y += LINE;
    this.pdf.text(org.id, { x: LEFT, y: this.y, font: "mono", grey: 0.4 });
    const state = final ? "The month has ended." : `The month is still running: as of ${timeText(to)}.`;
    this.pdf.text(state, { x: RIGHT, y: this.y, grey: 0.4, right: true });
    this.y += LINE;
  }

  sums(of: StatementJson): void {
    this.title("Balance");
    this.sum("Opening balance", of.opening_usd);
    this.sum("Purchases", of.purchases_usd);
    this.sum("Grants", of.grants_usd);
    this.sum("Refunds", of.refunds_usd);
    this.sum("Charges", minus(of.charges_usd));
    this.sum("Chargebacks", minus(of.chargebacks_usd));
    this.pdf.rule(this.y - 9, LEFT, RIGHT);
    this.total("Closing balance", of.closing_usd);
    const owed = /[1-9]/.test(of.debt_usd) ? ` - ${dollars(of.debt_usd)} owed` : "";
    this.note(`Of this, ${dollars(of.available_usd)} available + ${dollars(of.held_usd)} held${owed}.`);
    if (/[1-9]/.test(of.drift_usd))
      this.note(`These do not add up, by ${dollars(of.drift_usd)}. Ask for the ledger to be audited.`);
  }

  movements({ movements, other_movements }: StatementJson): void {
    this.title("Credits added, refunded or charged back");
    for (const { at, kind, source, reference, request, amount_usd } of movements) {
      this.room(request === null ? LINE : 2 * LINE);
      this.pdf.text(timeText(at), { x: LEFT, y: this.y });
      this.pdf.text(kind, { x: 175, y: this.y });
      this.pdf.text(`${source}: ${reference}`, { x: 240, y: this.y, width: 200 });
      this.amount(amount_usd);
      if (request === null) continue;
      this.pdf.text(`of ${request}`, { x: 240, y: this.y - 4, size: 7, font: "mono", grey: 0.4 });
      this.y += LINE - 4;
    }
    if (other_movements !== null)
      this.sum(`${counted(other_movements.rows)} more`, other_movements.amount_usd);
  }

  charges({ charges, other_charges, charges_usd }: StatementJson): void {
    this.title("Charges by model and key");
    const heads = (): void => {
      const head = { y: this.y, size: 8, grey: 0.4 };
      this.pdf.text("Model", { ...head, x: LEFT });
      this.pdf.text("Key", { ...head, x: 225 });
      this.pdf.text("Charged requests", { ...head, x: 440, right: true });
      this.pdf.text("Amount", { ...head, x: RIGHT, right: true });
      this.y += LINE;
    };
    heads();
    for (const { model, key, requests, charge_usd } of charges) {
      if (this.room()) heads();
      this.pdf.text(model, { x: LEFT, y: this.y, width: 165 });
      this.pdf.text(key.name, { x: 225, y: this.y, width: 75 });
      this.pdf.text(key.id, { x: 305, y: this.y, size: 7, font: "mono", grey: 0.4, width: 90 });
      this.pdf.text(counted(requests), { x: 440, y: this.y, right: true });
      this.amount(charge_usd);
    }
    if (other_charges !== null) {
      const what =
        other_charges.rows > 0
          ? `${counted(other_charges.rows)} more`
          : "Without a request that accounts for it";
      this.sum(what, other_charges.amount_usd);
    }
    this.pdf.rule(this.y - 9, LEFT, RIGHT);
    this.total("All charges", charges_usd);
  }

  chain({ entries, head }: StatementJson): void {
    this.title("Ledger");
    this.note(
      entries.first === null
        ? "No entry of the ledger was written in this month."
        : `Entries ${counted(entries.first)} to ${counted(entries.last ?? 0)}, ${counted(entries.count)} in all.`,
    );
    if (head === null) return;
    this.note(
      `The chain's head at the end is entry ${counted(head.n)}. Its hash covers it and all before it:`,
    );
    this.room();
    this.pdf.text(head.hash, { x: LEFT, y: this.y, size: 8, font: "mono" });
    this.y += LINE;
  }

  bytes({ org, month }: StatementJson): Uint8Array<ArrayBuffer> {
    const grey = { y: 816, size: 7, grey: 0.4 };
    return this.pdf.bytes(`Statement of ${org.name}, ${monthName(month)}`, (page, of) => {
      const terms = "Amounts are US dollars, exact to the nano-dollar; times and months are UTC.";
      this.pdf.text(terms, { ...grey, x: LEFT });
      this.pdf.text(`${org.id} · ${month} · ${page} / ${of}`, { ...grey, x: RIGHT, right: true });
      if (!this.pdf.lacks) return;
      const lacks = `${MISSING} stands for a character that this document's fonts lack; the CSV of this statement has every name in full.`;
      this.pdf.text(lacks, { ...grey, y: 826, x: LEFT });
    });
  }

  private title(text: string): void {
    this.room(4 * LINE);
    this.y += LINE;
    this.pdf.text(text, { x: LEFT, y: this.y, size: 12, font: "bold" });
    this.y += LINE + 4;
  }

  private sum(label: string, usd: string, font: "regular" | "bold" = "regular"): void {
    this.room();
    this.pdf.text(label, { x: LEFT, y: this.y, font, width: 340 });
    this.amount(usd, font);
  }

  private total(label: string, usd: string): void {
    this.sum(label, usd, "bold");
  }

  private amount(usd: string, font: "regular" | "bold" = "regular"): void {
    this.pdf.text(dollars(usd), { x: RIGHT, y: this.y, font, right: true });
    this.y += LINE;
  }

  private note(text: string): void {
    this.room();
    this.pdf.text(text, { x: LEFT, y: this.y, size: 8, grey: 0.3 });
    this.y += LINE;
  }

  /** Makes room for this height, on a new page if necessary; returns true for a new page. */
  private room(height = LINE): boolean {
    if (this.y + height <= BOTTOM) return false;
    this.pdf.newPage();
    this.y = TOP;
    return true;
  }
}
