import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { keepLoaded, openLibrary } from "#lib/libc/foreign_library.ts";

const LIBC = Deno.build.os === "darwin" ? "libSystem.B.dylib" : "libc.so.6";

const SYMBOLS = {
  strlen: { parameters: ["buffer"], result: "usize" },
  labs: { parameters: ["i64"], result: "i64" },
  calloc: { parameters: ["usize", "usize"], result: "pointer" },
  free: { parameters: ["pointer"], result: "void" },
  usleep: { parameters: ["u32"], result: "i32", nonblocking: true },
} as const;

const NAMES = ["strlen", "labs", "calloc", "free", "usleep"] as const;

for (const often of [[], NAMES]) {
  const kind = often.length > 0 ? "called often" : "called by its address";
  const libc = openLibrary(LIBC, SYMBOLS, often);

  Deno.test(`a function that is ${kind} takes and returns the types of its symbol`, async () => {
    for (let i = 0; i < 100; i++) libc.strlen(new Uint8Array(1));
    assertEquals(libc.strlen(new TextEncoder().encode("four\0")), 4n);
    assertEquals([libc.labs(-7n), libc.labs(-(2n ** 40n))], [7n, 2n ** 40n]);
    const memory = libc.calloc(1n, 16n);
    assert(memory !== null);
    assertEquals(new Deno.UnsafePointerView(memory).getBigUint64(), 0n);
    assertEquals([libc.free(memory), libc.free(null)], [undefined, undefined]);
    const slept = libc.usleep(1);
    assert(slept instanceof Promise);
    assertEquals(await slept, 0);
  });
}

Deno.test("a frequently called function returns the same results after it gets its own caller function", () => {
  const libc = openLibrary(LIBC, SYMBOLS, ["labs"]);
  const { labs, strlen } = libc;
  const given = Array.from({ length: 200 }, (_, i) => [libc.labs(BigInt(-i)), labs(BigInt(-i))]);
  assertEquals(given, Array.from({ length: 200 }, (_, i) => [BigInt(i), BigInt(i)]));
  assert(libc.labs !== labs);
  assert(libc.strlen === strlen);
});

Deno.test("a missing function is null if it is optional, else an error", () => {
  const symbols = {
    no_such_function: { parameters: [], result: "i32", optional: true },
    getpid: { parameters: [], result: "i32" },
  } as const;
  for (const often of [[], ["no_such_function", "getpid"] as const]) {
    const libc = openLibrary(LIBC, symbols, often);
    assertEquals(libc.no_such_function, null);
    assertEquals(libc.getpid(), Deno.pid);
  }
  assertThrows(() => openLibrary(LIBC, { no_such_function: { parameters: [], result: "i32" } }, []));
  assertThrows(() => openLibrary("libno_such_library.so", { getpid: { parameters: [], result: "i32" } }, []));
});

Deno.test("a library that is not there cannot be kept open", () => {
  assertThrows(() => keepLoaded("libno_such_library.so"), Error, "libno_such_library.so cannot be kept open");
  assertEquals(keepLoaded(LIBC), undefined);
});
