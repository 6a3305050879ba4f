// A person at the dashboard, without its pages: keeps cookies, sends an Origin header, sends JSON.
import type { AppAnswer, AppRoute } from "../../src/api/client.ts";
import type { Role } from "../../src/domain/roles.ts";
import type { TestGateway } from "./gateway.ts";
import { assertTold } from "./told.ts";

export const PASSWORD = "correct horse battery";

export interface Answer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  text: string;
  json: T;
}

export class Browser {
  private readonly cookies = new Map<string, string>();

  constructor(
    private readonly url: string,
    readonly origin = url,
  ) {}

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** A browser with the same cookies, independent from then on. */
  copy(): Browser {
    return this.at(this.url);
  }

  /** The same at another gateway. */
  at(url: string): Browser {
    const copy = new Browser(url, this.origin);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  async send<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const changes = method !== "GET";
    const response = await fetch(this.url + path, {
      method,
      redirect: "manual",
      headers: {
        ...(this.cookies.size > 0 && { cookie: this.cookie }),
        ...(changes && { origin: this.origin, "content-type": "application/json" }),
        ...headers,
      },
      ...(changes && { body: JSON.stringify(body ?? {}) }),
    });
    for (const line of response.headers.getSetCookie()) this.take(line);
    const text = await response.text();
    const isJson =
      text !== "" && (response.headers.get("content-type")?.startsWith("application/json") ?? false);
    const json: unknown = isJson ? JSON.parse(text) : null;
    assertTold(method, path, { status: response.status, json });
    return { status: response.status, headers: response.headers, text, json: json as T };
  }

  /** Calls a route of the contract; `path` is below `/app/v1`. Fails the test if it is refused. */
  async app<R extends AppRoute>(
    route: R,
    params: Record<string, string> = {},
    body?: unknown,
    query = "",
  ): Promise<AppAnswer<R>> {
    const answer = await this.try(route, params, body, { query });
    if (answer.status >= 400) throw new Error(`${route}: ${answer.status} ${answer.text}`);
    return answer.json as AppAnswer<R>;
  }

  async try(
    route: AppRoute,
    params: Record<string, string> = {},
    body?: unknown,
    { query = "", headers = {} }: { query?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer<{ error: { code: string; message: string; request_id: string } }>> {
    const [method = "", path = ""] = route.split(" ");
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? "missing"),
    );
    return await this.send(method, `/app/v1${filled}${query}`, body, headers);
  }

  private take(line: string): void {
    const [pair = "", ...attributes] = line.split(";");
    const name = pair.slice(0, pair.indexOf("="));
    if (attributes.some((attribute) => attribute.trim().toLowerCase() === "max-age=0"))
      this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(pair.indexOf("=") + 1));
  }
}

/** Uses the link of the start banner: makes the first account, an operator. */
export async function firstOperator(gateway: TestGateway, email = "root@example.com"): Promise<Browser> {
  const browser = new Browser(gateway.url);
  const token = tokenOf(gateway.signInLink);
  await browser.app("POST /welcome", {}, { token, name: "Root", email, password: PASSWORD });
  return browser;
}

/** Signs in again, as somebody has to whose session is too old for an action. */
export async function signInAgain(browser: Browser, email = "root@example.com"): Promise<void> {
  const { status, text } = await browser.send("POST", "/auth/sign-in/email", { email, password: PASSWORD });
  if (status !== 200) throw new Error(`signing in again: ${status} ${text}`);
}

export const tokenOf = (link: string | null): string => link?.split("#token=")[1] ?? "no link";

/** A new person with this role in the organization, signed in. */
export async function newMember(
  operator: Browser,
  gateway: TestGateway,
  at: { org: string; role: Role; email: string; name?: string },
): Promise<Browser> {
  const invited = await operator.app(
    "POST /operator/organizations/{org}/invitations",
    { org: at.org },
    { email: at.email, role: at.role },
  );
  const browser = new Browser(gateway.url);
  await browser.app(
    "POST /invitations/accept",
    {},
    {
      token: tokenOf(invited.link),
      account: { name: at.name ?? at.email.split("@")[0], password: PASSWORD },
    },
  );
  return browser;
}

/** Makes an operator a member, too, by an invitation they accept themselves. */
export async function operatorJoins(
  operator: Browser,
  { org, ...at }: { org: string; role: Role; email?: string },
): Promise<void> {
  const asked = { email: "root@example.com", ...at };
  const { link } = await operator.app("POST /operator/organizations/{org}/invitations", { org }, asked);
  await operator.app("POST /invitations/accept", {}, { token: tokenOf(link) });
}

/** A new operator, signed in. */
export async function newOperator(operator: Browser, gateway: TestGateway, email: string): Promise<Browser> {
  const { link } = await operator.app("POST /operator/people", {}, { email });
  const browser = new Browser(gateway.url);
  const account = { name: email.split("@")[0], password: PASSWORD };
  await browser.app("POST /invitations/accept", {}, { token: tokenOf(link), account });
  return browser;
}
