// A page of another origin: a gateway that allows it, and the preflight request that a browser sends first (wire.md
// §6).
import { type GatewayOptions, startGateway, type TestGateway } from "./gateway.ts";

export const PAGE = "https://app.example";

/** As `startGateway`, for this page only. */
export const startForPage = (options: GatewayOptions = {}): Promise<TestGateway> =>
  startGateway({
    ...options,
    configure: (config) => {
      config.cors.origins = [PAGE];
      options.configure?.(config);
    },
  });

/** The browser's preflight request; `headers` are those that the page sets. */
export const preflight = (
  url: string,
  {
    origin = PAGE,
    method = "POST",
    headers = [],
  }: { origin?: string; method?: string; headers?: string[] } = {},
): Promise<Response> =>
  fetch(url, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": method,
      ...(headers.length > 0 && { "access-control-request-headers": headers.join(",") }),
    },
  });
