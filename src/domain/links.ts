// The links that people are given. The token is in the fragment, which browsers never send: the page reads it there and posts it to
// `/app/v1`.

const PAGES = { welcome: "/welcome", invitation: "/invitation", reset: "/reset" } as const;

/** `url` is where people reach the dashboard, without a trailing slash. */
export const linkTo = (page: keyof typeof PAGES, { url, token }: { url: string; token: string }): string =>
  `${url}${PAGES[page]}#token=${token}`;

/** Where an operator decides about a command-line login. The code is not a secret: it grants nothing by itself. */
export const deviceAddress = (url: string, userCode?: string): string =>
  userCode === undefined ? `${url}/device` : `${url}/device?code=${userCode}`;
