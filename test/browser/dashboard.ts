// The dashboard in a real Chromium on a real gateway, for one test file: people with browsers of their own. Whatever
// the browser complains about (console errors, policy violations, exceptions) fails the test that asks for it.
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type axe from "axe-core";
import type { Browser as Chromium, BrowserContext, Page } from "playwright-core";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { stateTexts } from "../../dashboard/components/texts.ts";
import { type Browser, firstOperator, PASSWORD } from "../support/browser.ts";
import { type GatewayOptions, startGateway, type TestGateway } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/wait.ts";
import { sharedBrowser } from "./chromium.ts";

export type Scheme = "light" | "dark";
/** Widths of the screenshots, and of the narrowest screen that must work. */
export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };
export const NARROW = { width: 320, height: 740 };

/** Built once for all tests of this checkout, under the fingerprint of its sources as in any data directory. */
export const BUILT = join(import.meta.dir, "../../node_modules/.cache/tollgate-dashboard");
/** Minified, because each loaded page compiles it anew: a fifth less work than the readable source. */
const AXE = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");
/** What axe checks: everything, or what a different colour scheme can break on the same page. */
const RULES = {
  all: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  colours: { type: "rule", values: ["color-contrast", "link-in-text-block"] },
} satisfies Record<string, axe.RunOptions["runOnly"]>;
const NO_MOTION = "*, ::before, ::after { transition: none !important; animation: none !important }";
const STILL_FRAMES = 5;
/**
 * Resolves when nothing has moved for some frames, which take longer on a slow machine: no element has changed, no
 * finite animation is running, and the page's size is the same. If a scheme is named, waits for that scheme, too.
 */
const still = (scheme: Scheme | "" = ""): string => `new Promise((still, never) => {
  const late = performance.now() + ${PATIENCE_MS};
  let moved = true;
  let before = "";
  let same = 0;
  const watch = new MutationObserver(() => (moved = true));
  watch.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  const runs = (animation) =>
    animation.playState === "running" && animation.effect?.getComputedTiming().endTime !== Infinity;
  const look = () => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    const now = scrollWidth + "x" + scrollHeight;
    const isOther = "${scheme}" !== "" && document.documentElement.dataset.mantineColorScheme !== "${scheme}";
    same = moved || isOther || now !== before || document.getAnimations().some(runs) ? 0 : same + 1;
    moved = false;
    before = now;
    if (same < ${STILL_FRAMES} && performance.now() < late) return requestAnimationFrame(look);
    watch.disconnect();
    if (same < ${STILL_FRAMES}) never(new Error("the page does not come to rest"));
    else still();
  };
  look();
})`;

/**
 * True once the page has settled, false if that takes too long. The page checks itself frame by frame, because
 * polling from outside costs more than the loading. Content that a page hides until it has arrived still counts as
 * loading.
 */
const SETTLED = `new Promise((resolve) => {
  const late = performance.now() + 5000;
  const look = () => {
    const settled = document.querySelector("h1")?.checkVisibility() === true
      && document.querySelector('[data-arriving], .table-scroll[aria-busy], [role="status"][aria-label="${stateTexts.loading}"]') === null;
    if (settled || performance.now() > late) resolve(settled);
    else requestAnimationFrame(look);
  };
  look();
})`;

/** Diagnostics for a page that does not settle: what it still waits for, and its text. */
const UNSETTLED = `JSON.stringify({
  awaited: [...document.querySelectorAll('[data-arriving], [aria-busy="true"], [role="status"]')]
    .map((part) => part.cloneNode(false).outerHTML),
  asked: performance.getEntriesByType("resource").slice(-5).map(({ name, duration }) => [name, Math.round(duration)]),
  text: document.body?.innerText.slice(0, 500),
})`;

/** The page was replaced by another one during the query; that one is queried next. */
function elsewhere(error: unknown): false {
  if (/context was destroyed|navigation/i.test(String(error))) return false;
  throw error;
}

export interface Dashboard {
  gateway: TestGateway;
  /** The first account, an operator, without pages. */
  root: Browser;
  /** A person with a browser of their own, signed in if an address is given; no page is open yet. */
  visitor(email?: string, viewport?: { width: number; height: number }): Promise<Visitor>;
  stop(): Promise<void>;
}

export const OPERATOR = "root@example.com";

export interface DashboardOptions extends GatewayOptions {
  /** The host name by which people reach it; default: the bare address. */
  host?: string;
}

export async function startDashboard(options: DashboardOptions = {}): Promise<Dashboard> {
  const gateway = await startGateway({
    ...options,
    configure: (config) => {
      config.signIn.perMinute = 1000;
      mkdirSync(BUILT, { recursive: true });
      symlinkSync(BUILT, join(config.dataDir, "dashboard"));
      options.configure?.(config);
    },
  });
  await fetch(gateway.url); // waits for the build, so that visitors find finished pages
  const url = gateway.url.replace("127.0.0.1", options.host ?? "127.0.0.1");
  const [root, chromium] = await Promise.all([firstOperator(gateway, OPERATOR), sharedBrowser()]);
  const visitors: Visitor[] = [];
  return {
    gateway,
    root,
    visitor: async (email, viewport = DESKTOP) => {
      const visitor = await Visitor.come(chromium, url, viewport);
      visitors.push(visitor);
      if (email !== undefined) await visitor.beSignedIn(email);
      return visitor;
    },
    stop: async () => {
      await Promise.all(visitors.map((visitor) => visitor.leave()));
      await gateway.stop();
    },
  };
}

/** `about`: the refusal that the test is about, because a browser reports every 4xx as an error. */
interface Complaints {
  about?: RegExp;
}

export class Visitor {
  private readonly complaints: string[] = [];
  /** The colour scheme of the page. */
  colorScheme: Scheme = "light";

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly url: string,
  ) {}

  static async come(
    chromium: Chromium,
    url: string,
    viewport: { width: number; height: number },
  ): Promise<Visitor> {
    const context = await chromium.newContext({ viewport, reducedMotion: "reduce", locale: "en-US" });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const visitor = new Visitor(page, context, url);
    page.on("pageerror", (error) => visitor.complaints.push(`exception: ${error.message}`));
    page.on("dialog", (dialog) => {
      visitor.complaints.push(`${dialog.type()}: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        visitor.complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && /^https?:/.test(request.url()))
        visitor.complaints.push(`another host: ${request.url()}`);
    });
    await page.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
      console.error("policy: " + event.violatedDirective + " " + event.blockedURI));`);
    return visitor;
  }

  /** Without the page, which is for the tests of signing in: puts the answer's cookie into this browser. */
  async beSignedIn(email: string): Promise<void> {
    const answer = await this.page.request.post(`${this.url}/auth/sign-in/email`, {
      headers: { origin: this.url },
      data: { email, password: PASSWORD },
    });
    if (!answer.ok()) throw new Error(`${email}: ${answer.status()} ${await answer.text()}`);
  }

  /** As a person does it, through the page. */
  async signIn(email: string, password = PASSWORD): Promise<void> {
    await this.page.goto(`${this.url}/sign-in`);
    await this.page.getByLabel(signInTexts.email).fill(email);
    await this.page.getByLabel(signInTexts.password, { exact: true }).fill(password);
    await this.page.getByRole("button", { name: signInTexts.submit, exact: true }).click();
    await this.page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
  }

  /** The cookie that this browser sends to the gateway, for calls outside the pages. */
  async cookie(): Promise<string> {
    const cookies = await this.context.cookies(this.url);
    return cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  /** Opens the address and waits until the page is still. False if the dashboard has no such page. */
  async open(path: string): Promise<boolean> {
    await this.page.goto(this.url + path);
    await this.settled();
    await this.page.addStyleTag({ content: NO_MOTION });
    return !(await this.page.getByRole("heading", { name: stateTexts.notFound }).isVisible());
  }

  /** Navigates to the page with this heading like a link in a page: without a reload. */
  async go(path: string, title: string): Promise<void> {
    await this.page.evaluate<void>(`history.pushState(null, "", ${JSON.stringify(path)})`);
    await this.arrived(title);
  }

  /**
   * Waits until the page with this heading has replaced the previous one, whose address changes first, and is still.
   */
  async arrived(title: string): Promise<void> {
    await this.page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    await this.settled();
  }

  /** Waits for a heading, and until there is no skeleton and nothing hidden until the page has arrived. */
  async settled(): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (!(await this.page.evaluate<boolean>(SETTLED).catch(elsewhere)))
      if (performance.now() > until)
        throw new Error(
          `${this.page.url()} does not settle: ${await this.page.evaluate<string>(UNSETTLED).catch(String)}`,
        );
  }

  async scheme(colorScheme: Scheme): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    this.colorScheme = colorScheme;
    await this.page.evaluate<void>(still(colorScheme));
  }

  /** Resizes the page and waits until its frame has moved. */
  async resize(viewport: { width: number; height: number }): Promise<void> {
    await this.page.setViewportSize(viewport);
    await this.page.evaluate<void>(still());
  }

  /** The findings of axe, one line each; must be empty. */
  async axe(rules: keyof typeof RULES = "all"): Promise<string[]> {
    if (!(await this.page.evaluate<boolean>(`"axe" in window`))) await this.page.evaluate(AXE);
    const violations = await this.page.evaluate<axe.Result[]>(
      `axe.run(document, ${JSON.stringify({ runOnly: RULES[rules], resultTypes: ["violations"] })}).then(({ violations }) => violations)`,
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
    );
  }

  /** By how many pixels the page is wider than the screen. */
  overflow(): Promise<number> {
    return this.page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
  }

  /** The height of the page in pixels: at least the screen's. */
  height(): Promise<number> {
    return this.page.evaluate<number>("document.documentElement.scrollHeight");
  }

  /** What the browser complained about since the last call. */
  complained({ about }: Complaints = {}): string[] {
    return this.complaints.splice(0).filter((line) => about === undefined || !about.test(line));
  }

  async leave(): Promise<void> {
    await this.context.close();
  }
}
