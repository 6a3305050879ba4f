// How an amount changed against the period before: an arrow and a figure; neither direction is good or bad by itself.
import { exactMoney } from "../format/money.ts";
import { changeText } from "./change-text.ts";
import { changeTexts as words } from "./texts.ts";

interface ChangeProps {
  /** With a sign, like `+20.0`; null where nothing came before. */
  percent: string | null;
  /** What it was before, for the pointer. */
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
