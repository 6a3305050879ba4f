import { describe, expect, test } from "bun:test";
import { isPublicAddress, readTarget, resolveTarget, TargetRefusal } from "./target.ts";

const strict = { privateTargets: false };
const nowhere = async (): Promise<string[]> => ["93.184.215.14"];

describe("addresses that customers may not choose", () => {
  test.each([
    "http://hooks.example.com/",
    "ftp://hooks.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "not an address",
    "",
    "https://",
    "https://user@hooks.example.com/",
    "https://user:password@hooks.example.com/",
    "https://hooks.example.com@127.0.0.1/",
    "https://127.0.0.1#@hooks.example.com/",
    "https://hooks.example.com/#fragment",
    "https://localhost/",
    "https://localhost./",
    "https://metadata/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://127.0.0.1./",
    "https://0/",
    "https://0.0.0.0/",
    "https://10.1.2.3/",
    "https://172.31.255.255/",
    "https://192.168.1.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[fd00:ec2::254]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    "https://１２７.0.0.1/",
    "https://①②⑦.0.0.1/",
  ])("%s", (target) => {
    expect(() => readTarget(target, strict)).toThrow(TargetRefusal);
  });
});

test.each(["https://hooks.example.com/x?y=1", "https://hooks.example.com:8443/", "https://93.184.215.14/"])(
  "%s is fine",
  async (target) => {
    expect(await resolveTarget(target, strict, nowhere)).toMatchObject({ address: "93.184.215.14" });
  },
);

test.each([
  [["127.0.0.1"]],
  [["93.184.215.14", "10.0.0.1"]],
  [["93.184.215.14", "::1"]],
  [["::ffff:10.0.0.1"]],
  [["169.254.169.254"]],
  [[]],
])("a name that resolves to %p is refused when it is called", (addresses) => {
  expect(resolveTarget("https://hooks.example.com/", strict, async () => addresses)).rejects.toThrow(
    TargetRefusal,
  );
});

test("a gateway that allows private targets calls them, plain http too", async () => {
  const allowed = { privateTargets: true };
  expect((await resolveTarget("http://127.0.0.1:9000/x", allowed, nowhere)).address).toBe("127.0.0.1");
  expect((await resolveTarget("http://alerts.internal/", allowed, async () => ["10.0.0.7"])).address).toBe(
    "10.0.0.7",
  );
  expect(() => readTarget("https://u:p@127.0.0.1/", allowed)).toThrow(TargetRefusal);
});

test("only global unicast addresses are public", () => {
  expect(["8.8.8.8", "2606:4700:4700::1111"].map(isPublicAddress)).toEqual([true, true]);
  expect(["", "example.com", "1.2.3", "2001:db8::1", "3fff::1", "4000::1"].some(isPublicAddress)).toBe(false);
});

describe("cloud metadata addresses are refused even where private targets are allowed", () => {
  const allowed = { privateTargets: true };
  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/",
    "http://169.254.169.254./",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://１６９.254.169.254/",
    "http://169。254。169。254/",
    "http://169.254.170.2/v2/credentials",
    "http://169.254.1.1/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://168.63.129.16/",
    "http://[fd00:ec2::254]/",
    "http://[fd00:0ec2:0:0::0254]/",
    "http://[fd20:ce::254]/",
    "http://[fe80::1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::a9fe:a9fe]/",
    "http://[::ffff:0:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::169.254.169.254]/",
    "http://[fd12:3456::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:4136:e378:8000:63bf:5601:5601]/",
    "http://[fd00::5efe:a9fe:a9fe]/",
    "http://[64:ff9b::6464:64c8]/",
    "http://metadata/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://metadata.azure.internal/",
    "http://metadata.tencentyun.com/",
    "http://instance-data/",
    "http://instance-data.ec2.internal/",
  ])("%s", (target) => {
    expect(() => readTarget(target, allowed)).toThrow(TargetRefusal);
  });

  test.each([
    [["169.254.169.254"]],
    [["10.0.0.7", "169.254.169.254"]],
    [["::ffff:169.254.169.254"]],
    [["64:ff9b::a9fe:a9fe"]],
    [["fd00:ec2::254"]],
    [["fe80::1%eth0"]],
    [["100.100.100.200"]],
  ])("a name that resolves to %p, at the first or the second lookup", async (addresses) => {
    let looks = 0;
    const rebinding = async (): Promise<string[]> => (looks++ === 0 ? ["10.0.0.7"] : addresses);
    const resolve = (): Promise<unknown> => resolveTarget("http://alerts.internal/", allowed, rebinding);
    expect(await resolve()).toMatchObject({ address: "10.0.0.7" });
    expect(resolve()).rejects.toThrow(TargetRefusal);
  });

  test.each([
    "http://10.0.0.7/",
    "http://[fd12::7]/",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://alerts.internal/",
  ])("%s is still fine", (target) => {
    expect(readTarget(target, allowed)).toBeInstanceOf(URL);
  });
});
