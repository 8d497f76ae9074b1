import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { call, mapOf } from "#tests/support/calls/host_calls.ts";

const onLinux = { ignore: Deno.build.os !== "linux" };

Deno.test("sysfs shows attributes, and does not change read-only ones", onLinux, async () => {
  const mtu = Number(Deno.readTextFileSync("/sys/class/net/lo/mtu"));
  assertEquals(await call("sysfs.read", ["class/net/lo/mtu"]), mtu);
  assertEquals(await call("sysfs.read", [["mtu", "nope"], "class/net/lo"]), map({ mtu }));
  assertEquals(await call("sysfs.read", ["class/net/nope"]), false);
  assertEquals(await call("sysfs.attr", ["class/net/lo/mtu"]), mtu);
  const place = Deno.realPathSync("/sys/class/net/lo");
  assertEquals(await call("sysfs.attr", ["class/net/lo"]), place);
  assertEquals(await call("sysfs.attr", ["class/net/nope"]), false);
  assertEquals([await call("sysfs.target", ["class/net/lo"]), await call("sysfs.target", ["class/net/lo", false])], [
    place,
    "lo",
  ]);
  assertEquals(await call("sysfs.target", ["class/net/nope"]), false);
  // The kernel rejects a change of the address length.
  assertEquals(await call("sysfs.write", ["class/net/lo/addr_len", 1]), false);
  assertEquals(await call("sysfs.attr", ["class/net/lo/addr_len", 1]), false);
  assertEquals(await call("sysfs.write", ["class/net/nope", 1]), false);
  const { r, rw } = Object.fromEntries(await mapOf("sysfs.interfaces", ["class/net/lo"]));
  assert(Array.isArray(r) && r.includes("addr_len") && Array.isArray(rw) && rw.includes("mtu"));
  assertEquals(await call("sysfs.interfaces", ["class/net/lo/mtu"]), false);
});
