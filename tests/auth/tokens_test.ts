/** @module */

import { MAX_OF_USER, Tokens } from "#lib/auth/tokens.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";

function withTokens(act: (tokens: Tokens, directory: string, logged: string[]) => void): void {
  const root = Deno.makeTempDirSync({ prefix: "tokens_" });
  const logged: string[] = [];
  try {
    const directory = `${root}/tokens`;
    act(new Tokens({ directory, hashType: "sha256", log: (text) => logged.push(text) }), directory, logged);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** Writes tokens of fred, whose names are numbers; they expire in so many seconds. */
function writeTokens(
  directory: string,
  count: number,
  { expire, first = 0 }: { readonly expire: number; readonly first?: number },
): void {
  const now = Date.now() / 1000;
  Deno.mkdirSync(directory, { recursive: true });
  for (let n = first; n < first + count; n++) {
    const data = map({ start: now, expire: now + expire, name: "fred", eauth: "file" });
    Deno.writeFileSync(
      `${directory}/${n.toString(16).padStart(64, "0")}.p`,
      encode(map({ data, _expires: 0 }), "disk"),
    );
  }
}

const FRED = { name: "fred", eauth: "file", groups: ["ops"] };

Deno.test("a token authenticates its user until it expires, and only the owner can read its file", () => {
  withTokens((tokens, directory) => {
    const { data } = tokens.make(FRED, 60);
    const token = str(data.get("token") ?? "");
    assertMatch(token, /^[0-9a-f]{64}$/);
    const { name, eauth, groups } = tokens.get(token) ?? {};
    assertEquals([name, eauth, groups], ["fred", "file", ["ops"]]);
    assertEquals((Deno.statSync(`${directory}/${token}.p`).mode ?? 0) & 0o777, 0o600);
    assert(tokens.make(FRED, 60).data.get("token") !== token);
    assertEquals([tokens.remove(token), tokens.get(token), tokens.remove(token)], [true, undefined, false]);
  });
});

Deno.test("CVE-2021-3144: an expired token is refused at its first use, and its file is removed", () => {
  withTokens((tokens, directory) => {
    const token = tokens.make(FRED, -1).data.get("token");
    assertEquals(tokens.get(token), undefined);
    assertEquals([...Deno.readDirSync(directory)], []);
    tokens.make(FRED, -1);
    const good = tokens.make(FRED, 60).data.get("token");
    tokens.removeExpired();
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), [`${good}.p`]);
  });
});

Deno.test("expired tokens behind a thousand valid ones are removed too", () => {
  withTokens((tokens, directory) => {
    // By name, as a directory is listed: 1,500 valid ones come first.
    writeTokens(directory, 1_500, { expire: 600 });
    writeTokens(directory, 2_000, { expire: -600, first: 1_500 });
    const count = () => [...Deno.readDirSync(directory)].length;
    for (let round = 0; round < 4; round++) tokens.removeExpired();
    assertEquals(count(), 1_500);
    // And it begins again.
    writeTokens(directory, 1, { expire: -1, first: 7 });
    for (let round = 0; round < 4; round++) tokens.removeExpired();
    assertEquals(count(), 1_499);
  });
});

Deno.test("a user has a bounded number of tokens: the oldest are removed, and those of others stay", () => {
  assertEquals(MAX_OF_USER, 1_000, "as many files as this test writes");
  withTokens((tokens, directory) => {
    const anna = str(tokens.make({ ...FRED, name: "anna" }, 600).data.get("token") ?? "");
    const pam = str(tokens.make({ ...FRED, eauth: "pam" }, 600).data.get("token") ?? "");
    const now = Date.now() / 1000;
    const oldest = "0".repeat(64);
    for (let n = 0; n < MAX_OF_USER; n++) {
      const data = map({ start: now - 100 + n / 1e6, expire: now + 600, name: "fred", eauth: "file" });
      Deno.writeFileSync(
        `${directory}/${n.toString(16).padStart(64, "0")}.p`,
        encode(map({ data, _expires: 0 }), "disk"),
      );
    }
    assert(tokens.get(oldest) !== undefined);
    const made = Array.from({ length: 3 }, () => str(tokens.make(FRED, 600).data.get("token") ?? ""));
    assertEquals([...Deno.readDirSync(directory)].length, MAX_OF_USER + 2);
    assertEquals(["0", "1", "2"].map((n) => tokens.get(n.padStart(64, "0"))), [undefined, undefined, undefined]);
    for (const token of [anna, pam, ...made, "3".padStart(64, "0")]) assert(tokens.get(token) !== undefined, token);
  });
});

Deno.test("the tokens that are named are removed, and counted", () => {
  withTokens((tokens, directory) => {
    const texts = ["fred", "ann", "fred"].map((name) =>
      str(tokens.make({ ...FRED, name }, 60).data.get("token") ?? "")
    );
    Deno.writeTextFileSync(`${directory}/notes`, "no token");
    assertEquals(tokens.removeAll(({ name }) => name === "fred"), 2);
    assertEquals(texts.map((text) => tokens.get(text)?.name), [undefined, "ann", undefined]);
    assertEquals(tokens.removeAll(({ name }) => name === "fred"), 0);
  });
});

Deno.test("one round looks at a thousand files, so that a full directory holds nothing up", () => {
  withTokens((tokens, directory) => {
    writeTokens(directory, 1_500, { expire: -600 });
    tokens.removeExpired();
    assertEquals([...Deno.readDirSync(directory)].length, 500);
  });
});

Deno.test("none of a user's tokens goes while they are fewer than the most", () => {
  withTokens((tokens, directory) => {
    writeTokens(directory, 600, { expire: 600 });
    tokens.make(FRED, 600);
    assertEquals([...Deno.readDirSync(directory)].length, 601);
  });
});

Deno.test("a token of another master is stored as it is, and names only a file of the token directory", () => {
  withTokens((tokens, directory) => {
    const token = str(tokens.make(FRED, 60).data.get("token") ?? "");
    const file = tokens.packed(token);
    assert(file !== undefined);
    withTokens((others, theirs) => {
      others.setPacked(token, file);
      assertEquals([others.get(token)?.name, others.list()], ["fred", [token]]);
      assertEquals((Deno.statSync(`${theirs}/${token}.p`).mode ?? 0) & 0o777, 0o600);
      others.setPacked(token, undefined);
      assertEquals([others.get(token), others.packed(token), others.list()], [undefined, undefined, []]);
    });
    Deno.writeFileSync(`${directory}/../outside.p`, file);
    for (const name of ["../outside", "x", "A".repeat(64)]) {
      tokens.setPacked(name, undefined);
      tokens.setPacked(name, new Uint8Array([1]));
      assertEquals(tokens.packed(name), undefined, name);
    }
    assertEquals(Deno.readFileSync(`${directory}/../outside.p`), file);
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), [`${token}.p`]);
  });
});

Deno.test("CVE-2020-11652: a token names only files of the token directory", () => {
  withTokens((tokens, directory) => {
    const { data } = tokens.make(FRED, 60);
    Deno.writeFileSync(`${directory}/../outside.p`, encode(data, "disk"));
    Deno.writeFileSync(`${directory}/short.p`, encode(data, "disk"));
    const hostile: (Value | undefined)[] = [
      "../outside",
      "short",
      "",
      ".",
      "..",
      "/etc/passwd",
      "x\0",
      undefined,
      null,
      7,
      ["a"],
      "A".repeat(64),
    ];
    for (const token of hostile) {
      assertEquals([tokens.get(token), tokens.remove(token)], [undefined, false], `${token}`);
    }
    assert(Deno.statSync(`${directory}/../outside.p`).isFile);
  });
});

Deno.test("tokens of 3006 and 3007 are read, and other files are removed", () => {
  withTokens((tokens, directory) => {
    const old = "ab".repeat(32), bad = "cd".repeat(32), nobody = "ef".repeat(32);
    tokens.make(FRED, 60);
    const data = map({ ...{ start: 1.5, expire: Date.now() / 1000 + 60 }, name: "old", eauth: "pam", token: old });
    Deno.writeFileSync(`${directory}/${old}`, encode(data, "disk"));
    Deno.writeTextFileSync(`${directory}/${bad}.p`, "no msgpack");
    Deno.writeFileSync(`${directory}/${nobody}.p`, encode(map({ expire: Date.now() }), "disk"));
    assertEquals([tokens.get(old)?.name, tokens.get(bad), tokens.get(nobody)], ["old", undefined, undefined]);
    tokens.remove(old);
    assertEquals([...Deno.readDirSync(directory)].length, 1);
  });
});

Deno.test("a token that cannot be read is none, and the log says why", () => {
  withTokens((tokens, directory, logged) => {
    const token = "0".repeat(64);
    Deno.mkdirSync(`${directory}/${token}.p`, { recursive: true });
    assertEquals(tokens.get(token), undefined);
    assertMatch(logged.join(), /^A token cannot be read: .*Is a directory/);
  });
});
