// The token count of a prompt, beside the messages: the same fields, but fewer, and no answer.
import { FaceRefusal, type Face } from "../face.ts";
import { anthropicMessages } from "./face.ts";

const MESSAGES = "/anthropic/v1/messages";

export const countsClaude = (path: string): boolean => path === `${MESSAGES}/count_tokens`;

const FORBIDDEN = ["max_tokens", "stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata"];

export const countingFace: Face = {
  ...anthropicMessages,
  serves: countsClaude,
  hear(body, _path, headers) {
    const asked = body as Record<string, unknown>;
    const extra = FORBIDDEN.find((name) => asked[name] !== undefined);
    if (extra !== undefined) throw new FaceRefusal(`${extra}: Extra inputs are not permitted`);
    return anthropicMessages.hear({ ...asked, max_tokens: 1_000_000 }, MESSAGES, headers);
  },
};
