// Whether the gateway has another page by now than this one: then what a page falls over may be the answer of another version, and
// it comes anew; where it has the very same, it would fall again.
import { useEffect, useState } from "react";

/** Of several gateways behind a balancer, in the middle of an update, each may answer. */
const LOOKS = 4;

/** False, too, where no page comes. */
async function isAnotherPage(): Promise<boolean> {
  const own = moduleOf(document);
  const found = await Promise.all(Array.from({ length: LOOKS }, () => served().catch(() => null)));
  return found.some((page) => page !== null && page !== own);
}

/** The one module of the page that is served now; its name has the hash of its content. */
async function served(): Promise<string | null> {
  const answer = await fetch("/", { cache: "no-store" });
  if (!answer.ok) return null;
  return moduleOf(new DOMParser().parseFromString(await answer.text(), "text/html"));
}

const moduleOf = (page: Document): string | null =>
  page.querySelector("script[type=module]")?.getAttribute("src") ?? null;

/** The same, where it is asked; null until it is known. */
export function useAnotherPage(isAsked: boolean): boolean | null {
  const [found, setFound] = useState<boolean | null>(null);
  useEffect(() => {
    if (!isAsked) return;
    let isLeft = false;
    void isAnotherPage().then((is) => !isLeft && setFound(is));
    return () => void (isLeft = true);
  }, [isAsked]);
  return isAsked ? found : false;
}
