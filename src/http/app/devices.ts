// What an operator does about a terminal that wants to log in: find it by its code, approve it, decline it.
import type { Devices } from "../../contract/devices.ts";
import { type Call, type Handlers, personOf } from "./call.ts";

export interface DevicesPort {
  devices: Pick<Devices, "decide" | "find">;
}

type Routes = Extract<keyof Handlers, `POST /operator/devices/${string}`>;

export const deviceHandlers = ({ devices }: DevicesPort): Handlers<Routes> => ({
  "POST /operator/devices/find": (call) =>
    devices.find(call.body.user_code, { person: personOf(call), address: call.visitor.address }),
  "POST /operator/devices/{device}/approve": (call) =>
    devices.decide(call.params.device, "approve", byOf(call)),
  "POST /operator/devices/{device}/decline": (call) =>
    devices.decide(call.params.device, "decline", byOf(call)),
});

const byOf = (call: Pick<Call, "who" | "visitor" | "requestId">) => ({
  person: personOf(call),
  from: { address: call.visitor.address, requestId: call.requestId },
});
