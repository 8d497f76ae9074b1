import { findFullName, renamedInHosts, renamedInSysconfig, systemResolver } from "#lib/host/network/host_names.ts";
import { parseBuffers } from "#lib/host/network/host_tools.ts";
import { parseIfconfig } from "#lib/host/network/interfaces.ts";
import { parseSs } from "#lib/host/network/open_sockets.ts";
import { parseIpRoutes, parseIpRoutes6 } from "#lib/host/network/routes.ts";
import { HostFiles } from "#lib/programs/files.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { asMap, call, mapOf } from "#tests/support/calls/host_calls.ts";
import { answeringContext, resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { createSocket } from "node:dgram";

testRecordedCases("execution", "network");

Deno.test("the output of ss, ip and ifconfig is used if netstat and ip are missing", () => {
  const ss =
    'tcp ESTAB 0 0 10.1.2.3:22 10.1.2.9:515 users:(("sshd",pid=9,fd=3)) timer:(keepalive,1min,0) uid:7 ino:123 sk:1 <->\n' +
    "Netid State\nudp UNCONN 0 0 *:68 *:* ino:5 sk:2 <->\n";
  assertEquals(parseSs(ss).map(({ proto, state, user, inode, program }) => [proto, state, user, inode, program]), [
    ["tcp", "ESTABLISHED", "7", "123", "sshd"],
    ["udp", undefined, 0, "5", ""],
  ]);
  const four = "default via 10.1.0.1 dev eth0 proto dhcp\n10.1.0.0/20 dev eth0 scope link\nunreachable 10.9.0.0/16\n";
  assertEquals(parseIpRoutes(four).map((one) => [one.destination, one.netmask, one.gateway, one.interface]), [
    ["0.0.0.0", "0.0.0.0", "10.1.0.1", "eth0"],
    ["10.1.0.0", "255.255.240.0", "0.0.0.0", "eth0"],
  ]);
  const six =
    "::1 dev lo proto kernel\ndefault via fe80::1 dev eth0\nlocal fd00::2 dev eth0 table local\nmulticast ff00::/8 dev eth0\n";
  assertEquals(parseIpRoutes6(six).map((one) => [one.destination, one.gateway, one.interface]), [
    ["::1", "::", "lo"],
    ["::/0", "fe80::1", "eth0"],
    ["fd00::2/128", "::", "eth0"],
  ]);
  const ifconfig =
    "eth0: flags=4163<UP,BROADCAST>  mtu 1500\n        inet 192.0.2.2  netmask 255.255.255.0  broadcast 192.0.2.255\n" +
    "        inet6 fd00::2  prefixlen 64  scopeid 0x0<global>\n        ether 02:fc:00:00:00:01  txqueuelen 1000\n\n";
  assertEquals([...parseIfconfig(ifconfig)], [["eth0", {
    up: true,
    inet: [{ address: "192.0.2.2", netmask: "255.255.255.0", broadcast: "192.0.2.255" }],
    inet6: [{ address: "fd00::2", prefixlen: "64", scope: null }],
    hwaddr: "02:fc:00:00:00:01",
  }]]);
  const ethtool =
    "Ring parameters for eth0:\nPre-set maximums:\nRX:\t4096\nRX Mini:\t0\nCurrent hardware settings:\nTX:\t512\n";
  assertEquals(parseBuffers(ethtool), { result: true, "rx-max": 4096, "rx-mini-max": 0, tx: 512 });
  assertEquals(parseBuffers("sh: 1: ethtool: not found"), { result: false, comment: "1: ethtool: not found" });
});

Deno.test("a full host name is from the hosts file, otherwise from the resolver, otherwise the name itself", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/etc`);
    Deno.writeTextFileSync(`${root}/etc/hosts`, "127.0.1.1 web1 web1.example.org\n10.0.0.5 alone\n");
    const resolver = {
      address: (name: string) => name === "far" ? Promise.resolve("10.0.0.9") : Promise.reject(new Error("none")),
      name: () => Promise.resolve("far.example.org"),
    };
    const named = (name: string) => findFullName(name, { files: new HostFiles(root), resolver });
    assertEquals(await Promise.all(["web1", "alone", "far", "gone"].map(named)), [
      "web1.example.org",
      "alone",
      "far.example.org",
      "gone",
    ]);
  });
  assertEquals(
    renamedInHosts("127.0.0.1 localhost\n\n127.0.1.1  old  x\n", "old", "new"),
    "127.0.0.1\tlocalhost\n\n127.0.1.1\tnew\tx\n",
  );
  assertEquals(renamedInSysconfig('NETWORKING=yes\nHOSTNAME="old"\n', "new"), 'NETWORKING=yes\nHOSTNAME="new"\n');
});

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("network.get_fqdn and fqdns return the host names of the hosts file and the resolver", async () => {
  const context = minion();
  const known = { files: new HostFiles(), resolver: await systemResolver() };
  assertEquals(await resultOrError(context, "network.get_fqdn"), await findFullName(Deno.hostname(), known));
  const result = await resultOrError(context, "network.fqdns");
  assert(isMap(result) && Array.isArray(result.get("fqdns")));
  const names = result.get("fqdns") as Value[];
  assertEquals(names, [...new Set(names)].toSorted());
  assertEquals(names.filter((name) => typeof name !== "string" || /^[\d.]+$|:/.test(name)), []);
});

Deno.test("network.traceroute shows nothing of a route that takes too long", async () => {
  using programs = new RecordedPrograms();
  programs.answer("traceroute");
  const dropped = { stdout: 0, stderr: 0 };
  const none = new Uint8Array();
  const runChild = () => Promise.resolve({ pid: 1, retcode: -9, stdout: none, stderr: none, timedOut: true, dropped });
  assertEquals(await resultOrError(testContext({ runChild }), "network.traceroute", ["example.com"]), []);
});

const onLinux = { ignore: Deno.build.os !== "linux" };

Deno.test("network shows the names of this host and its connections", onLinux, async () => {
  for (const name of ["network.get_hostname", "system.get_computer_name"]) {
    assertEquals(await call(name), Deno.hostname());
  }
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using client = await Deno.connect({ hostname: "127.0.0.1", port: (listener.addr as Deno.NetAddr).port });
  using server = await listener.accept();
  const [{ port: ours }, { port: theirs }] = [client.localAddr, server.localAddr] as Deno.NetAddr[];
  const connection = [...(await mapOf("network.active_tcp")).values()].map(asMap).find((one) =>
    one.get("local_port") === ours
  );
  const address = "127.0.0.1";
  const expected = { local_addr: address, local_port: ours, remote_addr: address, remote_port: theirs };
  assertEquals(connection, map(expected));
});

Deno.test("network.wol sends sixteen times the hardware address", async () => {
  const socket = createSocket("udp4");
  const received = new Promise<Uint8Array>((resolve) => socket.once("message", resolve));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port } = socket.address();
  assertEquals(await call("network.wol", ["08-00-27-13-69-77", "127.0.0.1", port]), true);
  const bytes = await received;
  socket.close();
  const address = [0x08, 0x00, 0x27, 0x13, 0x69, 0x77];
  assertEquals([...bytes], [...Array(6).fill(0xff), ...Array.from({ length: 16 }, () => address).flat()]);
  await assertRejects(() => call("network.wol", ["08-00", "127.0.0.1", port]), Error);
});
