// Alert rules, channels and deliveries: thin over the desk of `src/operator/alerts`.
import type { AlertDesk } from "../../contract/alert-desk.ts";
import { actorOf, type Handlers } from "./call.ts";

export interface AlertsPorts {
  alertDesk: AlertDesk;
}

type Routes =
  | "GET /orgs/{org}/alerts/rules"
  | "POST /orgs/{org}/alerts/rules"
  | "PUT /orgs/{org}/alerts/rules/{rule}"
  | "DELETE /orgs/{org}/alerts/rules/{rule}"
  | "GET /orgs/{org}/alerts/channels"
  | "POST /orgs/{org}/alerts/channels"
  | "DELETE /orgs/{org}/alerts/channels/{channel}"
  | "POST /orgs/{org}/alerts/channels/{channel}/test"
  | "GET /orgs/{org}/alerts/deliveries";

const DONE = { done: true } as const;

export const alertHandlers = ({ alertDesk: desk }: AlertsPorts): Handlers<Routes> => ({
  "GET /orgs/{org}/alerts/rules": ({ params }) => desk.rules(params.org),
  "POST /orgs/{org}/alerts/rules": (call) => desk.addRule(call.params.org, call.body, actorOf(call)),
  "PUT /orgs/{org}/alerts/rules/{rule}": (call) =>
    desk.changeRule(call.params.org, call.params.rule, { input: call.body, actor: actorOf(call) }),
  "DELETE /orgs/{org}/alerts/rules/{rule}": async (call) => {
    await desk.removeRule(call.params.org, call.params.rule, actorOf(call));
    return DONE;
  },
  "GET /orgs/{org}/alerts/channels": ({ params }) => desk.channels(params.org),
  "POST /orgs/{org}/alerts/channels": (call) => desk.addChannel(call.params.org, call.body, actorOf(call)),
  "DELETE /orgs/{org}/alerts/channels/{channel}": async (call) => {
    await desk.removeChannel(call.params.org, call.params.channel, actorOf(call));
    return DONE;
  },
  "POST /orgs/{org}/alerts/channels/{channel}/test": (call) =>
    desk.sendTest(call.params.org, call.params.channel, actorOf(call)),
  "GET /orgs/{org}/alerts/deliveries": ({ params, query }) => desk.deliveries(params.org, query),
});
