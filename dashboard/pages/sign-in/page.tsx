// Sign-in: password, passkey or the company's own sign-in; then a second factor if the account requires one.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { Front } from "../../components/front.tsx";
import { text, useFilters } from "../../filters.ts";
import { path } from "../../path-builder.ts";
import { signInTexts as words } from "./texts.ts";
import { FirstFactor } from "./first-factor.tsx";
import { SecondFactor } from "./second-factor.tsx";

export function SignInPage() {
  const [factorNeeded, setFactorNeeded] = useState(false);
  const [{ next, error }] = useFilters({ next: text(), error: text() });
  const navigate = useNavigate();
  const target = targetOf(next);
  const done = (): void => {
    queryClient.clear();
    void navigate({ href: target, replace: true });
  };
  return (
    <Front title={words.title} lead={factorNeeded ? words.secondLead : words.lead}>
      {factorNeeded ? (
        <SecondFactor done={done} startAgain={() => setFactorNeeded(false)} />
      ) : (
        <FirstFactor
          target={target}
          returned={error === "" ? null : returnedWith(error)}
          done={done}
          askFactor={() => setFactorNeeded(true)}
        />
      )}
    </Front>
  );
}

/** Back to where the person wanted to go, which can only be an address of this dashboard. */
const targetOf = (next: string): string =>
  /^\/(?:o\/|operator\/|device(?:\?code=[A-Za-z-]{1,9})?$|invitation$|welcome$)/.test(next)
    ? next
    : path.home();

/**
 * Why a company's sign-in came back without a session. Anyone can write the address, so only known error shapes are
 * shown.
 */
function returnedWith(error: string): ApiError {
  const code = /^[a-z_]{1,60}$/.test(error) ? error : "unknown";
  const reasons: Record<string, string> = words.returned;
  const message = reasons[code] ?? words.returnedOther;
  return new ApiError({ status: 401, code, message, requestId: null, param: null });
}
