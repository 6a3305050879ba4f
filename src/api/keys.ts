// API keys of an organization. Developers change the keys that they created; the secret is returned once.
import { z } from "zod";
import { makersOf, keyDay, successionOf } from "../reporting/key-makers.ts";
import { keysOver } from "../reporting/key-places.ts";
import { refusalsOfKey } from "../reporting/key-refusals.ts";
import { endpoint } from "./endpoint.ts";
import { type KeyAt, keyMakersOf, keyRowOf, keysPage, knownKey } from "./key-rows.ts";
import type { Rooms } from "./rooms.ts";
import { id, keyId } from "./shapes/fields.ts";
import {
  createdKey,
  createdKeyRecord,
  createKeyInput,
  createKeyRecordInput,
  editKeyInput,
  key,
  keyDetail,
  keyList,
  keyMakers,
  keyMakersQuery,
  keyRecord,
  keyRecordList,
  keyRecordsQuery,
  keysQuery,
  limitKeyInput,
  renameKeyInput,
  replaceKeyInput,
  replaceKeyRecordInput,
  updateKeyInput,
} from "./shapes/keys.ts";
import { keyRefusals, keyRefusalsQuery } from "./shapes/refusal-causes.ts";

const oneKey = z.strictObject({ org: id, key: id });

export const keysEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/keys",
    who: "keys.see",
    input: keysQuery.extend({ org: id }),
    output: keyList,
    run: async ({ input, caller }, rooms) => ({
      ...(await keysPage(rooms, input, caller)),
      ...(await keysOver(rooms.reports.sql, input.org, rooms.nowMs())),
    }),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/key-makers",
    who: "keys.see",
    input: keyMakersQuery.extend({ org: id }),
    output: keyMakers,
    run: ({ input }, rooms) => keyMakersOf(rooms, input),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys",
    who: "keys.change",
    own: null,
    input: createKeyInput,
    output: createdKey,
    status: 201,
    audit: "key.create",
    run: async ({ input, caller }, rooms) => {
      const created = await rooms.operator.keys.create(input, caller.actor);
      return {
        ...(await keyRowOf(rooms, { org: input.org, key: created.id }, caller)),
        secret: created.secret,
        replaces: null,
      };
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/keys/{key}",
    who: "keys.see",
    input: oneKey,
    output: keyDetail,
    run: async ({ input, caller }, rooms) => {
      const found = await keyRowOf(rooms, input, caller);
      return {
        ...found,
        ...(await keyDay(rooms.reports, input.org, found.id)),
        ...(await successionOf(rooms.reports, input.org, found)),
      };
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/keys/{key}/refusals",
    who: "activity.see",
    input: keyRefusalsQuery,
    output: keyRefusals,
    run: async ({ input }, rooms) => {
      await knownKey(rooms, input);
      return await refusalsOfKey(rooms.reports, input);
    },
  }),
  endpoint({
    target: "PATCH /app/v1/orgs/{org}/keys/{key}",
    who: "keys.change",
    own: makerOf,
    input: editKeyInput,
    output: key,
    audit: "key.limit",
    run: async ({ input: { org, ...change }, caller }, rooms) => {
      const at = { org, key: change.key };
      await knownKey(rooms, at);
      await rooms.operator.keys.change(change, caller.actor);
      return await keyRowOf(rooms, at, caller);
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/replace",
    who: "keys.change",
    own: makerOf,
    input: replaceKeyInput,
    output: createdKey,
    status: 201,
    audit: "key.create",
    run: async ({ input: { org, ...input }, caller }, rooms) => {
      await knownKey(rooms, { org, key: input.key });
      const created = await rooms.operator.keys.replace(input, caller.actor);
      return {
        ...(await keyRowOf(rooms, { org, key: created.id }, caller)),
        secret: created.secret,
        replaces: input.key,
      };
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/pause",
    who: "keys.change",
    own: makerOf,
    input: oneKey,
    output: key,
    audit: "key.pause",
    run: async ({ input, caller }, rooms) => {
      await knownKey(rooms, input);
      await rooms.operator.keys.pause(input.key, caller.actor);
      return await keyRowOf(rooms, input, caller);
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/resume",
    who: "keys.change",
    own: makerOf,
    input: oneKey,
    output: key,
    audit: "key.resume",
    run: async ({ input, caller }, rooms) => {
      await knownKey(rooms, input);
      await rooms.operator.keys.resume(input.key, caller.actor);
      return await keyRowOf(rooms, input, caller);
    },
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/keys/{key}/revoke",
    who: "keys.change",
    own: makerOf,
    input: oneKey,
    output: key,
    audit: "key.revoke",
    run: async ({ input, caller }, rooms) => {
      await knownKey(rooms, input);
      await rooms.operator.keys.revoke(input.key, caller.actor);
      return await keyRowOf(rooms, input, caller);
    },
  }),
  endpoint({
    target: "POST /admin/v1/keys",
    who: "keys.change",
    own: null,
    summary: "Create an API key; only this response shows the secret",
    input: createKeyRecordInput,
    output: createdKeyRecord,
    status: 201,
    audit: "key.create",
    run: ({ input, caller }, { operator }) => operator.keys.create(input, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/keys",
    who: "keys.see",
    summary: "List an organization's API keys, oldest first",
    input: keyRecordsQuery,
    output: keyRecordList,
    run: ({ input }, { operator }) => operator.keys.list(input),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/revoke",
    who: "keys.change",
    own: null,
    summary: "Revoke an API key permanently, effective with its next request",
    input: z.strictObject({ key: keyId }),
    output: keyRecord,
    audit: "key.revoke",
    run: ({ input, caller }, { operator }) => operator.keys.revoke(input.key, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/pause",
    who: "keys.change",
    own: null,
    summary: "Pause an API key until it is resumed, effective with its next request",
    input: z.strictObject({ key: keyId }),
    output: keyRecord,
    audit: "key.pause",
    run: ({ input, caller }, { operator }) => operator.keys.pause(input.key, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/resume",
    who: "keys.change",
    own: null,
    summary: "Resume a paused API key",
    input: z.strictObject({ key: keyId }),
    output: keyRecord,
    audit: "key.resume",
    run: ({ input, caller }, { operator }) => operator.keys.resume(input.key, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/replace",
    who: "keys.change",
    own: null,
    summary: "Create an API key with the settings of another one, which expires after an overlap",
    input: replaceKeyRecordInput,
    output: createdKeyRecord,
    status: 201,
    audit: "key.create",
    run: ({ input, caller }, { operator }) => operator.keys.replace(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/update",
    who: "keys.change",
    own: null,
    summary: "Change an API key's name and settings",
    input: updateKeyInput,
    output: keyRecord,
    audit: "key.settings",
    run: ({ input, caller }, { operator }) => operator.keys.change(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/rename",
    who: "keys.change",
    own: null,
    summary: "Rename an API key",
    input: renameKeyInput,
    output: keyRecord,
    audit: "key.rename",
    run: ({ input, caller }, { operator }) => operator.keys.change(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/keys/{key}/limit",
    who: "keys.change",
    own: null,
    summary: "Set or remove an API key's monthly spend limit",
    input: limitKeyInput,
    output: keyRecord,
    audit: "key.limit",
    run: ({ input: { usd, ...input }, caller }, { operator }) =>
      operator.keys.change({ ...input, limit_usd: usd }, caller.actor),
  }),
] as const;

async function makerOf(at: KeyAt, rooms: Rooms): Promise<string | null> {
  const { id } = await knownKey(rooms, at);
  return (await makersOf(rooms.reports.sql, [id])).get(id) ?? null;
}
