// A self-signed certificate for 127.0.0.1, for tests only, and a way to make this process accept it for a while.
export const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvT3jXKq3pamPIXV/
pCqNnGxO/0cwkw2c/V9CgYt0bvmhRANCAASRXMbHkbQ5PBR2lMQA1E0tzwuj2NZd
gH+ohYGbXaHr4VZ6K0U36h6X2Ji3HPzeNUp2XRZjsRyodJhlOEfeZqLJ
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIURQqv/2faYOqENQujcFWF2dX0WicwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjA5MTg0MloYDzIxMjYxMDI5
MDkxODQyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASRXMbHkbQ5PBR2lMQA1E0tzwuj2NZdgH+ohYGbXaHr4VZ6K0U36h6X
2Ji3HPzeNUp2XRZjsRyodJhlOEfeZqLJo28wbTAdBgNVHQ4EFgQU7Zfh+shMyUcp
P6RE7h+xYSkPpaUwHwYDVR0jBBgwFoAU7Zfh+shMyUcpP6RE7h+xYSkPpaUwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgcxKQ4oudZ4nzLltXsfU6y0nhm8Un+2E1BwAUGrIGA78CIQCA
ccyyXtJlTEXMEEcSh3clEPhqvEote2gJAEzdIYNtbA==
-----END CERTIFICATE-----`,
};

const SETTING = "NODE_TLS_REJECT_UNAUTHORIZED";

/** Accepts any certificate until `restore` is called. */
export function trustAnyone(): { restore(): void } {
  const before = process.env[SETTING];
  process.env[SETTING] = "0";
  return {
    restore() {
      if (before === undefined) delete process.env[SETTING];
      else process.env[SETTING] = before;
    },
  };
}
