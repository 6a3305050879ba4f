// What an organization and a person set for themselves.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer, AppBody } from "../../src/contract/app.ts";
import { addPasskey, verifyCode } from "./auth.ts";
import { useChange } from "./change.ts";
import { get, send } from "./client.ts";
import { api } from "./paths.ts";

export type Settings = AppAnswer<"GET /orgs/{org}/settings">;
export type Profile = AppAnswer<"GET /profile">;

const PROFILE = ["profile"] as const;
/** An organization may have asked for the second factor before it showed anything. */
const EVERYTHING = [] as const;

export const settingsQuery = (org: string) =>
  queryOptions({
    queryKey: ["organization", org, "settings"],
    queryFn: ({ signal }) => get<Settings>(api.settings(org), {}, signal),
  });
export const profileQuery = queryOptions({
  queryKey: PROFILE,
  queryFn: ({ signal }) => get<Profile>(api.profile(), {}, signal),
});

export const useChangeSettings = (org: string, onDone: (saved: Settings) => void) =>
  useChange({
    send: (body: AppBody<"PATCH /orgs/{org}/settings">, idempotencyKey) =>
      send<Settings>(api.settings(org), { method: "PATCH", body, idempotencyKey }),
    onDone,
    // The name is in the session's memberships as well.
    stale: EVERYTHING,
  });
export const useRename = () =>
  useChange({
    send: (body: { name: string }, idempotencyKey) =>
      send<Profile>(api.profile(), { method: "PATCH", body, idempotencyKey }),
    onDone: () => {},
    stale: PROFILE,
  });
export const useChangePassword = (onDone: () => void) =>
  useChange({
    send: (body: AppBody<"POST /profile/password">, idempotencyKey) =>
      send<unknown>(api.changePassword(), { body, idempotencyKey }),
    onDone,
    stale: PROFILE,
  });
export const useEndSession = (id: string, onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) =>
      send<unknown>(api.personSession(id), { method: "DELETE", idempotencyKey }),
    onDone,
    stale: PROFILE,
  });
export const useEndOtherSessions = (onDone: () => void) =>
  useChange({
    send: (_: null, idempotencyKey) => send<unknown>(api.endOtherSessions(), { idempotencyKey }),
    onDone,
    stale: PROFILE,
  });

export const useAddPasskey = (onDone: () => void) =>
  useChange({ send: (name: string) => addPasskey(name), onDone, stale: PROFILE });
export const useRemovePasskey = (onDone: () => void) =>
  useChange({
    send: (id: string) => send<unknown>("/auth/passkey/delete-passkey", { body: { id } }),
    onDone,
    stale: PROFILE,
  });

/** Of the sign-in library: what an authenticator app takes in, and codes for the day the phone is lost. */
export interface NewSecondFactor {
  totpURI: string;
  backupCodes: string[];
}
export const useBeginSecondFactor = (onDone: (made: NewSecondFactor) => void) =>
  useChange({
    send: (password: string) => send<NewSecondFactor>("/auth/two-factor/enable", { body: { password } }),
    onDone,
    stale: PROFILE,
  });
export const useFinishSecondFactor = (onDone: () => void) =>
  useChange({
    send: (code: string) => verifyCode(code),
    onDone,
    stale: EVERYTHING,
  });
export const useNewBackupCodes = (onDone: (codes: readonly string[]) => void) =>
  useChange({
    send: async (password: string) =>
      (
        await send<Pick<NewSecondFactor, "backupCodes">>("/auth/two-factor/generate-backup-codes", {
          body: { password },
        })
      ).backupCodes,
    onDone,
    stale: PROFILE,
  });
export const useEndSecondFactor = () =>
  useChange({
    send: (password: string) => send<unknown>("/auth/two-factor/disable", { body: { password } }),
    onDone: () => {},
    stale: EVERYTHING,
  });
