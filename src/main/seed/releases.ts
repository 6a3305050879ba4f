// The signed releases of a seeded store, published at their planned times, and what operators later did to
// routes.
import { DAY_MS } from "../../domain/durations.ts";
import { type Actor, byItself } from "../../domain/actor.ts";
import { parseManifest } from "../../releases/manifest.ts";
import type { ReleaseKey } from "../../releases/release-key.ts";
import { signRelease } from "../../releases/signature.ts";
import type { Releases } from "../releases.ts";
import { SEEDED_MODELS, type SeededModel, type SeededRoute } from "./catalogue.ts";
import type { MovingClock } from "./moving-clock.ts";
import type { Timeline } from "./timeline.ts";
import { instantAt, type SeededTime } from "./traffic.ts";

export interface Publishing {
  releases: Pick<Releases, "publisher">;
  key: ReleaseKey;
  clock: MovingClock;
  timeline: Timeline;
  span: SeededTime;
  operator: Actor;
}

/** Publishes the first release of each route now, and puts later changes on the timeline. */
export async function publishCatalogue(on: Publishing): Promise<void> {
  for (const model of SEEDED_MODELS)
    for (const route of model.routes) {
      await publish(on, model, { route, version: 1 });
      const { replaced, disabled } = route;
      if (replaced !== undefined)
        on.timeline.add(instantAt(on.span, replaced.at), () =>
          publish(on, { ...model, pricing: replaced.pricing }, { route, version: 2 }),
        );
      if (disabled !== undefined)
        on.timeline.add(instantAt(on.span, disabled.at), async () => {
          const change = { route: idOf(model, route), disabled: true, reason: disabled.reason };
          await on.releases.publisher.setDisabled(change, on.operator);
        });
    }
}

const idOf = ({ model }: SeededModel, { provider, region }: SeededRoute): string =>
  `${model}@${provider}/${region}`;

async function publish(
  { releases, key, clock, span }: Publishing,
  model: SeededModel,
  { route, version }: { route: SeededRoute; version: number },
): Promise<void> {
  const { firstTokenMs: _, tokensPerSecond: __, routes: ___, ...terms } = model;
  const { provider, region, priority = 1, endsInDays } = route;
  const manifest = parseManifest({
    ...terms,
    provider,
    region,
    priority,
    version,
    upstream_model: `sim-${terms.model}`,
  });
  // In a short time span, the end must fall inside it, too.
  const endsAtMs =
    endsInDays < 0
      ? instantAt(
          span,
          1 + Math.max(endsInDays * DAY_MS, (span.fromMs - span.toMs) / 2) / (span.toMs - span.fromMs),
        )
      : span.toMs + endsInDays * DAY_MS;
  const nowMs = clock.nowMs();
  const jws = await signRelease(manifest, key, { expiresInMs: endsAtMs - nowMs, nowMs });
  const outcome = await releases.publisher.publish(jws, byItself("seed"));
  if (outcome.kind === "refused") throw new Error(`the release of ${manifest.route}: ${outcome.reason}`);
}
