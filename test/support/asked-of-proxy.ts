// What this process asks a network's proxy for.
import { takeProxy } from "../../src/lib/outbound.ts";
import { TunnelProxy } from "./tunnel-proxy.ts";

/** Runs the work where a proxy is the only way out, and opens no tunnel; returns the first lines of what it was asked. */
export async function askedOfProxy(work: () => Promise<unknown>): Promise<string[]> {
  const network = await TunnelProxy.start();
  network.mood = { status: "403 Forbidden" };
  takeProxy({ url: network.url, except: [] }, process.env);
  try {
    await work();
    return network.asked.map((head) => head.slice(0, head.indexOf("\r\n")));
  } finally {
    takeProxy(null, process.env);
    network.stop();
  }
}
