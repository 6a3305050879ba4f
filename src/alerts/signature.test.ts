import { expect, test } from "bun:test";
import { newSigningSecret, signedHeaders } from "./signature.ts";

test("signs as the Standard Webhooks specification's example does", () => {
  const headers = signedHeaders("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    body: '{"test": 2432232314}',
    nowMs: 1_614_265_330_999,
  });
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("each channel has its own secret of 24 random bytes", () => {
  const [one, two] = [newSigningSecret(), newSigningSecret()];
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(one).not.toBe(two);
});
