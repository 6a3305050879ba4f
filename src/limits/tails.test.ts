// Who may follow the activity live: bounded for a person, an organization and the process, and fair between organizations.
import { expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { Tails } from "./tails.ts";

const LIMITS = { perPerson: 2, perOrganization: 6, together: 10 };

class Pages {
  readonly tails = new Tails(LIMITS);
  readonly ended: string[] = [];

  /** The result for another page: its place, or the status of its refusal. */
  begin(organization: string, person: string): (() => void) | number {
    try {
      return this.tails.begin({ organization, person, end: () => this.ended.push(person) });
    } catch (error) {
      if (error instanceof Refusal) return error.status;
      throw error;
    }
  }

  /** This many pages, each of another person. */
  fill(organization: string, pages: number): void {
    for (let n = 0; n < pages; n += 1)
      expect(this.begin(organization, `${organization}-${n}`)).toBeFunction();
  }
}

test("a person has so many pages, over all organizations; closing one makes room", () => {
  const pages = new Pages();
  const first = pages.begin("a", "anna");
  expect([pages.begin("b", "anna"), pages.begin("c", "anna")]).toEqual([expect.any(Function), 429]);
  if (typeof first === "function") first();
  expect(pages.begin("c", "anna")).toBeFunction();
});

test("an organization has so many pages, whoever opens them", () => {
  const pages = new Pages();
  pages.fill("a", 6);
  expect(pages.begin("a", "late")).toBe(429);
  expect(pages.begin("b", "bert")).toBeFunction();
});

test("with all places taken, an organization with fewer pages gets the oldest of the fullest one", () => {
  const pages = new Pages();
  pages.fill("a", 6);
  pages.fill("b", 4);
  expect(pages.begin("c", "new")).toBeFunction();
  expect(pages.ended).toEqual(["a-0"]);
  expect(pages.tails.size).toBe(10);
});

test("nobody is displaced back and forth: who would then have as many is refused with 503", () => {
  const pages = new Pages();
  pages.fill("a", 5);
  pages.fill("b", 5);
  expect(pages.begin("a", "one more")).toBe(503);
  expect(pages.ended).toEqual([]);
  pages.fill("c", 3);
  expect(pages.begin("c", "fourth")).toBe(503);
  expect(pages.begin("a", "back again")).toBe(503);
  expect(pages.tails.size).toBe(10);
});
