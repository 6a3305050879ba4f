import { expect, test } from "bun:test";
import { bodyWith, parsed, verdict } from "./chat-request.fixtures.ts";

/** Every row of wire.md §1.4 that needs no release; fields in the order of the body. */
const REFUSED: [fields: Record<string, unknown>, verdict: string][] = [
  [{ reasoning_effort: "high", thinking: { type: "disabled" } }, "contradictory_thinking thinking.type"],
  [{ thinking: { type: "disabled" }, reasoning_effort: "high" }, "contradictory_thinking reasoning_effort"],
  [{ reasoning_effort: "low", reasoning: { enabled: false } }, "contradictory_thinking reasoning.enabled"],
  [{ reasoning_effort: "low", enable_thinking: false }, "contradictory_thinking enable_thinking"],
  [{ reasoning_effort: "none", thinking: { type: "enabled" } }, "contradictory_thinking thinking.type"],
  [{ reasoning_effort: "none", thinking: { type: "adaptive" } }, "contradictory_thinking thinking.type"],
  [{ enable_thinking: true, reasoning_effort: "none" }, "contradictory_thinking reasoning_effort"],
  [{ reasoning: { effort: "low" }, reasoning_effort: "high" }, "contradictory_thinking reasoning_effort"],
  [{ reasoning_effort: "high", reasoning: { effort: "low" } }, "contradictory_thinking reasoning.effort"],
  [{ reasoning: { effort: "high", enabled: false } }, "contradictory_thinking reasoning.enabled"],
  [{ reasoning: { enabled: false, effort: "high" } }, "contradictory_thinking reasoning.effort"],
  [{ enable_thinking: false, thinking: { type: "enabled" } }, "contradictory_thinking thinking.type"],
  [{ reasoning_effort: "high", thinking_budget: 100 }, "contradictory_thinking thinking_budget"],
  [{ thinking_token_budget: 100, reasoning_effort: "high" }, "contradictory_thinking reasoning_effort"],
  [{ thinking: { type: "enabled", budget_tokens: 1024 } }, "contradictory_thinking thinking.budget_tokens"],
  [{ reasoning: { effort: "high", max_tokens: 9 } }, "contradictory_thinking reasoning.max_tokens"],
  [{ enable_thinking: false, thinking_budget: 0 }, "contradictory_thinking thinking_budget"],
  [
    { reasoning_effort: "high", enable_thinking: true, thinking: { type: "disabled" } },
    "contradictory_thinking thinking.type",
  ],
  [{ thinking: { budget_tokens: 1024 } }, "unsupported_parameter thinking.budget_tokens"],
  [{ reasoning: { max_tokens: 1024 } }, "unsupported_parameter reasoning.max_tokens"],
  [{ thinking_budget: 1024 }, "unsupported_parameter thinking_budget"],
  [{ thinking_token_budget: 1024 }, "unsupported_parameter thinking_token_budget"],
  [{ include_reasoning: true }, "unsupported_parameter include_reasoning"],
  [{ include_reasoning: false }, "unsupported_parameter include_reasoning"],
  [{ reasoning: { exclude: true } }, "unsupported_parameter reasoning.exclude"],
  [{ reasoning: { summary: "auto" } }, "unsupported_parameter reasoning.summary"],
  [{ reasoning_effort: 3 }, "invalid_request reasoning_effort"],
  [{ reasoning: "high" }, "invalid_request reasoning"],
  [{ reasoning: { enabled: "yes" } }, "invalid_request reasoning.enabled"],
  [{ thinking: true }, "invalid_request thinking"],
  [{ thinking: { type: "auto" } }, "unsupported_value thinking.type"],
  [{ enable_thinking: "true" }, "invalid_request enable_thinking"],
];

for (const [fields, expected] of REFUSED) {
  test(`${JSON.stringify(fields)} is refused: ${expected}`, () => {
    expect(verdict(bodyWith(fields))).toBe(expected);
  });
}

const ACCEPTED: [fields: Record<string, unknown>, statement: unknown][] = [
  [{}, null],
  [{ reasoning_effort: "HIGH" }, { kind: "effort", effort: "HIGH", param: "reasoning_effort" }],
  [{ reasoning: { effort: "low" } }, { kind: "effort", effort: "low", param: "reasoning.effort" }],
  [{ thinking: { type: "adaptive", display: "x" } }, { kind: "on", param: "thinking.type" }],
  [{ enable_thinking: false }, { kind: "off", param: "enable_thinking" }],
  [
    { enable_thinking: true, reasoning_effort: "low", reasoning: { effort: "low", enabled: true } },
    { kind: "effort", effort: "low", param: "reasoning_effort" },
  ],
  [
    { thinking: { type: "disabled" }, reasoning_effort: "none" },
    { kind: "effort", effort: "none", param: "reasoning_effort" },
  ],
  [
    { enable_thinking: true, thinking: { type: "enabled" } },
    { kind: "on", param: "enable_thinking" },
  ],
  [{ reasoning: { effort: null, exclude: false }, thinking: { type: null, budget_tokens: null } }, null],
];

for (const [fields, statement] of ACCEPTED) {
  test(`${JSON.stringify(fields)} says ${JSON.stringify(statement)}`, () => {
    expect(parsed(bodyWith(fields)).reasoning).toEqual(statement as never);
  });
}
