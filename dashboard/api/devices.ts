// Terminals that want to log in: found by the code that they show, then approved or declined.
import type { AppAnswer } from "../../src/contract/app.ts";
import { send } from "./client.ts";
import { useChange } from "./change.ts";
import { api } from "./paths.ts";

export type Device = AppAnswer<"POST /operator/devices/find">;

/** A question: it changes nothing, so it has no key of a form. */
export const findDevice = (userCode: string): Promise<Device> =>
  send<Device>(api.findDevice, { body: { user_code: userCode } });

export const useDecideDevice = (
  device: string,
  act: "approve" | "decline",
  onDone: (decided: Device) => void,
) =>
  useChange({
    send: (_: null, idempotencyKey) => send<Device>(api.decideDevice(device, act), { idempotencyKey }),
    onDone,
    stale: ["operator", "management-keys"],
  });
