/** @module */
import {
  holdConnection,
  peerAddress,
  raiseOpenFileLimit,
  ReadWait,
  sendSignal,
  shutDownConnection,
} from "#lib/libc/libc.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { strictTest } from "#tests/support/strict.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

const STDIN = 0;

/** The number of open descriptors of this process. */
function openDescriptors(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

strictTest("a wait ends at its time-out, and at close(), now and later", async () => {
  // The descriptor never becomes readable.
  const wait = new ReadWait(neverReadable());
  const start = performance.now();
  await wait.wait(50);
  const took = performance.now() - start;
  assert(took >= 49 && took < AT_ONCE_MS, `${took} ms`);
  const waiting = [wait.wait(-1), wait.wait(60_000)];
  wait.close();
  wait.close();
  await Promise.all([...waiting, wait.wait(-1)]);
});

/** A descriptor that never becomes readable. */
function neverReadable(): number {
  return Deno.build.os === "linux" ? -1 : STDIN; // poll(2) ignores negative descriptors
}

Deno.test({
  name: "a wait leaves no descriptor open, and children inherit none",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    // After many calls the functions are compiled, which leaves a descriptor open.
    for (let i = 0; i < 100; i++) new ReadWait(neverReadable()).close();
    const before = openDescriptors();
    const waits = Array.from({ length: 20 }, () => new ReadWait(neverReadable()));
    assertEquals(openDescriptors(), before + 40);
    const { stdout } = await new Deno.Command("ls", { args: ["/proc/self/fd"] }).output();
    const inherited = new TextDecoder().decode(stdout).trim().split("\n").length;
    assert(inherited < 10, `a child has ${inherited} descriptors`);
    for (const wait of waits) wait.close();
    assertEquals(openDescriptors(), before);
  },
});

Deno.test("the limit on open files is raised as far as permitted", () => {
  const { soft, hard } = raiseOpenFileLimit(256);
  assert(soft >= 256 && hard >= soft);
  const raised = raiseOpenFileLimit(hard);
  assertEquals(raised, { soft: hard, hard });
});

Deno.test("signals are sent to one process, never to this process group or to all processes", async () => {
  const child = new Deno.Command("sleep", { args: ["60"] }).spawn();
  assert(sendSignal(child.pid, 0));
  assert(sendSignal(child.pid, 9));
  assertEquals((await child.status).signal, "SIGKILL");
  assert(!sendSignal(child.pid, 0));
  for (const pid of [0, -1, 1.5, NaN]) assertThrows(() => sendSignal(pid, 0), RangeError);
});

Deno.test({
  name: "a connection is shut down only if it is of the address that is meant",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const before = descriptorsOfSockets();
    using client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
    using served = await listener.accept();
    const both = [...descriptorsOfSockets()].filter((fd) => !before.has(fd));
    assertEquals(both.map(peerAddress), ["7f000001", "7f000001"]);
    for (const fd of both) shutDownConnection(fd, "7f000002");
    const byte = new Uint8Array(1);
    await client.write(byte);
    assertEquals(await served.read(byte), 1); // both are unchanged
    shutDownConnection(both[0], "7f000001");
    assertEquals(await served.read(byte), null);
  },
});

Deno.test({
  name: "the address of a connection is an IPv4 or IPv6 address; other sockets and other files have none",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const directory = Deno.makeTempDirSync({ prefix: "libc_" });
    try {
      using listener = Deno.listen({ transport: "unix", path: `${directory}/socket` });
      const before = descriptorsOfSockets();
      using _client = await Deno.connect({ transport: "unix", path: `${directory}/socket` });
      using _served = await listener.accept();
      const both = [...descriptorsOfSockets()].filter((fd) => !before.has(fd));
      assertEquals(both.map(peerAddress), [undefined, undefined]);
      assertEquals(both.map(holdConnection), [undefined, undefined]);
      assertEquals(holdConnection(-1), undefined);
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  },
});

Deno.test({
  name: "the address of an IPv6 connection has 16 bytes",
  ignore: Deno.build.os !== "linux" || !hasIpv6(),
  fn: async () => {
    using listener = Deno.listen({ hostname: "::1", port: 0 });
    const before = descriptorsOfSockets();
    using _client = await Deno.connect({ hostname: "::1", port: listener.addr.port });
    using _served = await listener.accept();
    const both = [...descriptorsOfSockets()].filter((fd) => !before.has(fd));
    assertEquals(both.map(peerAddress), Array(2).fill(`${"0".repeat(31)}1`));
  },
});

function hasIpv6(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}

/** The descriptors of this process that are sockets. */
function descriptorsOfSockets(): Set<number> {
  const names = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => name);
  const isSocket = (name: string) => readLinkIfThere(`/proc/self/fd/${name}`)?.startsWith("socket:") ?? false;
  return new Set(names.filter(isSocket).map(Number));
}

function readLinkIfThere(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined; // the descriptor used to read the directory
  }
}
