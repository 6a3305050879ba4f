// `kind: simulator`: the demo provider, with the chat-completions shape. Without an address it runs inside this
// process, on a loopback port (docs/simulator.md).
import type { ProviderKind } from "../kind.ts";
import type { Dialect } from "../openai/dialects.ts";
import { openai } from "../openai/kind.ts";

export const simulator: ProviderKind = {
  ...openai,
  name: "simulator",
  description: "The built-in simulator, inside the gateway or at its own address.",
  credential: { ...openai.credential, needed: false },
  wrong: () => null,
  // It supports the Responses shape at any address.
  create: (upstream, own) => {
    const { dialect } = own as { dialect: Dialect };
    return openai.create(upstream, { ...own, dialect: { responses: true, ...dialect } });
  },
  startInside: async () => {
    const { startSimulator } = await import("./server.ts");
    const running = await startSimulator({ port: 0 });
    return { baseUrl: `${running.url}/v1`, stop: () => running.stop() };
  },
};
