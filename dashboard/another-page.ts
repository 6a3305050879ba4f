// Tells whether the gateway now serves another version of this page. If so, an error of the page may come from an
// answer of the other version, and reloading helps; if not, the same error would happen again.
import { useEffect, useState } from "react";

/** During an update of several gateways behind a balancer, any of them may answer. */
const LOOKS = 4;

/** Also false if no page is served. */
async function isAnotherPage(): Promise<boolean> {
  const own = moduleOf(document);
  const found = await Promise.all(Array.from({ length: LOOKS }, () => served().catch(() => null)));
  return found.some((page) => page !== null && page !== own);
}

/** The only module of the page that is served now; its name contains the hash of its content. */
async function served(): Promise<string | null> {
  const answer = await fetch("/", { cache: "no-store" });
  if (!answer.ok) return null;
  return moduleOf(new DOMParser().parseFromString(await answer.text(), "text/html"));
}

const moduleOf = (page: Document): string | null =>
  page.querySelector("script[type=module]")?.getAttribute("src") ?? null;

/** The same as a hook, asked only if `isAsked`; null until it is known. */
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
