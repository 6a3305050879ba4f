// The change of an amount against the previous period: an arrow and a figure. Neither direction is marked as good or
// bad.
import { exactMoney } from "../format/money.ts";
import { changeText } from "./change-text.ts";
import { changeTexts as words } from "./texts.ts";

interface ChangeProps {
  /** With a sign, like `+20.0`; null if there was nothing before. */
  percent: string | null;
  /** The previous value, for the tooltip. */
  before: string;
}

export function Change({ percent, before }: ChangeProps) {
  const text = changeText(percent);
  return (
    <span className="figures" title={words.before(exactMoney(before))}>
      {text}
    </span>
  );
}
