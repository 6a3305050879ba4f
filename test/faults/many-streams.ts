// Run by its test in a separate process: `bun test` itself is limited to 256 connections, whatever the environment
// says.
import { hello, startGateway } from "../support/gateway.ts";

const STREAMS = 600;
const gateway = await startGateway();
const customer = await gateway.customer({ usd: "100" });
gateway.simulator.behave({ behaviour: { first_event_ms: 8000 } }); // the last one arrives before the first is answered
const body = { ...hello(), max_tokens: 5 };
const running = Promise.all(Array.from({ length: STREAMS }, () => gateway.stream(customer, body)));
let atOnce = 0;
const watching = setInterval(() => {
  atOnce = Math.max(atOnce, gateway.simulator.bill().filter(({ outcome }) => outcome === "running").length);
}, 20);
const replies = await running;
clearInterval(watching);
const complete = replies.filter(({ status, events }) => status === 200 && events.done).length;
await gateway.assertSound();
await gateway.stop();
console.log(JSON.stringify({ complete, atOnce }));
