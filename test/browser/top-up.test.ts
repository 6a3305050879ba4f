// Automatic top-up: unchanged terms cannot be saved.
import { expect, test } from "bun:test";
import { dialogTexts } from "../../dashboard/components/texts.ts";
import { billingTexts } from "../../dashboard/pages/billing/texts.ts";
import { path } from "../../dashboard/path-builder.ts";
import { startSeeded } from "./fixture.ts";

test("Save is disabled until something changes, and again when the change is undone", async () => {
  const { dashboard, seeded, visitor } = await startSeeded();
  try {
    await visitor.open(path.organization(seeded.org, "billing"));
    const save = visitor.page.getByRole("button", { name: dialogTexts.save, exact: true });
    const amount = visitor.page.getByLabel(billingTexts.topUpBy, { exact: true });
    const kept = await amount.inputValue();
    expect(await save.isEnabled()).toBe(false);
    await amount.fill("77");
    expect(await save.isEnabled()).toBe(true);
    await amount.fill(kept);
    expect(await save.isEnabled()).toBe(false);
  } finally {
    await dashboard.stop();
  }
});
