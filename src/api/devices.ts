// An operator's actions on a terminal that wants to log in: find it by its code, approve it, decline it.
import { z } from "zod";
import { endpoint, type PersonCaller } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { device, findDeviceInput } from "./shapes/devices.ts";
import { id } from "./shapes/fields.ts";

const oneDevice = z.strictObject({ device: id });

export const devicesEndpoints = [
  endpoint({
    target: "POST /app/v1/operator/devices/find",
    who: "operate",
    input: findDeviceInput,
    output: device,
    audit: null,
    run: ({ input, caller, exchange }, rooms) =>
      rooms.devices.find(input.user_code, {
        person: caller.signedIn.person,
        address: exchange.visitor.address,
      }),
  }),
  endpoint({
    target: "POST /app/v1/operator/devices/{device}/approve",
    who: "operate",
    input: oneDevice,
    output: device,
    audit: "device.approve",
    run: (call, rooms) => rooms.devices.decide(call.input.device, "approve", byOf(call)),
  }),
  endpoint({
    target: "POST /app/v1/operator/devices/{device}/decline",
    who: "operate",
    input: oneDevice,
    output: device,
    audit: "device.decline",
    run: (call, rooms) => rooms.devices.decide(call.input.device, "decline", byOf(call)),
  }),
] as const;

const byOf = ({ caller, exchange }: { caller: PersonCaller; exchange: Exchange }) => ({
  person: caller.signedIn.person,
  from: { address: exchange.visitor.address, requestId: exchange.requestId },
});
