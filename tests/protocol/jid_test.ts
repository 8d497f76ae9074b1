/** @module */
import { ConfigError } from "#lib/errors.ts";
import { isJid, jidDirectory, jidMemory, jidToStartTime, makeJid, setJidOrigin, shareJids } from "#lib/protocol/jid.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };

Deno.test("a jid is the time of its creation", () => {
  const before = Date.now();
  const jid = makeJid();
  assert(isJid(jid) && jid.length === 20, jid);
  const [, year, month, day, hour, minute, second, ms] = /^(....)(..)(..)(..)(..)(..)(...)/.exec(jid) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  // Earlier tests may have used jids of later microseconds.
  assert(time >= before && time <= Date.now() + 1000, jid);
});

Deno.test("jids strictly increase, at any rate and also if the clock is set back", () => {
  const later = Date.now() + 500;
  const jids = [makeJid(later), makeJid(later), makeJid(later - 10_000), makeJid(later)];
  for (let i = 0; i < 20_000; i++) jids.push(makeJid());
  assertEquals(jids, [...new Set(jids)].sort());
});

Deno.test("threads that share jids make no duplicates", async () => {
  const memory = jidMemory();
  const source = `import { makeJid, shareJids } from ${
    JSON.stringify(import.meta.resolve("../../lib/protocol/jid.ts"))
  };
    self.onmessage = ({ data }) => {
      shareJids(data);
      const ms = Date.now();
      self.postMessage(Array.from({ length: 2_000 }, () => makeJid(ms)));
    };`;
  const made = await Promise.all(Array.from({ length: 3 }, async () => {
    const worker = new Worker(`data:text/javascript,${encodeURIComponent(source)}`, { type: "module" });
    try {
      return await new Promise<string[]>((resolve) => {
        worker.onmessage = ({ data }: MessageEvent<string[]>) => resolve(data);
        worker.postMessage(memory);
      });
    } finally {
      worker.terminate();
    }
  }));
  assertEquals(new Set(made.flat()).size, 6_000);
});

Deno.test("a jid is the given time in UTC to the microsecond", () => {
  const ms = Date.UTC(2099, 11, 31, 23, 59, 59, 7) + 0.25;
  assertEquals(makeJid(ms), "20991231235959007250");
  assertEquals(makeJid(ms), "20991231235959007251");
  assertEquals(makeJid(ms + 0.75), "20991231235959008000");
  assertEquals(makeJid(ms, { unique: true }), `20991231235959008001_${Deno.pid}`);
});

const JIDS: [string, boolean][] = [
  ["20140523101112123456", true],
  ["20140523101112123456_4242", true],
  ["2014052310111212345", false],
  ["201405231011121234567", false],
  ["20140523101112123456_", false],
  ["20140523101112123456_../../x", false],
  ["20140523101112123456_a\n", false],
  ["20140523101112123456\n", false],
  ["2014052310111212345x", false],
  ["+2014052310111212345", false],
  ["../../../../etc/shado", false],
  ["req", false],
  ["", false],
];
for (const [text, expected] of JIDS) {
  Deno.test(`isJid() returns ${expected} for ${JSON.stringify(text)}`, () => assertEquals(isJid(text), expected));
}

Deno.test("start times and directories of jobs equal Salt's", () => {
  for (const { jid, startTime, directories } of corpus.jids) {
    assertEquals(jidToStartTime(jid), startTime);
    for (const [hashType, directory] of Object.entries(directories)) {
      assertEquals(jidDirectory(jid, hashType), directory);
    }
  }
  assertThrows(() => jidDirectory("20140523101112123456", "sha3"), ConfigError, "hash_type");
});

Deno.test("a jid with an invalid month has no start time", () => {
  assertEquals(jidToStartTime("20141323101112123456"), "");
  assertEquals(jidToStartTime("20140023101112123456"), "");
  assertMatch(jidToStartTime("20140231101112123456"), /^2014, Feb 31 /);
});

Deno.test("masters of a cluster make different jids, whatever the time", () => {
  const made = new Set<string>();
  try {
    for (const origin of [1, 2, 15]) {
      const memory = jidMemory();
      shareJids(memory);
      setJidOrigin(memory, origin);
      const jids = [makeJid(1_700_000_000_000), makeJid(1_700_000_000_000), makeJid(1_600_000_000_000)];
      assertEquals(jids.map((jid) => Number(jid.slice(14)) % 16), [origin, origin, origin]);
      assertEquals(jids, jids.toSorted());
      for (const jid of jids) made.add(jid);
    }
  } finally {
    shareJids(jidMemory());
  }
  assertEquals(made.size, 9);
});
