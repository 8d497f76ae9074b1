/** @module */
import { Autosign, type AutosignHost, type AutosignOpts } from "#lib/keys/autosign.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

interface Setup {
  readonly dir: string;
  readonly warnings: string[];
  make(opts?: Partial<AutosignOpts>, host?: Partial<AutosignHost>): Autosign;
}

function setUp(run: (setup: Setup) => void): () => void {
  return () => {
    const dir = Deno.makeTempDirSync({ prefix: "autosign_" });
    const warnings: string[] = [];
    const defaults: AutosignOpts = {
      pki_dir: dir,
      user: "salt",
      auto_accept: false,
      autosign_file: `${dir}/autosign`,
      autoreject_file: `${dir}/autoreject`,
      autosign_timeout: 120,
      autosign_grains_dir: `${dir}/grains`,
      permissive_pki_access: false,
    };
    try {
      run({
        dir,
        warnings,
        make: (opts = {}, host = {}) =>
          new Autosign({ ...defaults, ...opts }, { warn: (message) => warnings.push(message), ...host }),
      });
    } finally {
      Deno.removeSync(dir, { recursive: true });
    }
  };
}

/** Writes a file that only the owner may write, independent of the umask. */
function write(path: string, text: string, mode = 0o644): void {
  Deno.writeTextFileSync(path, text);
  Deno.chmodSync(path, mode);
}

Deno.test(
  "without files and options no minion is accepted or rejected",
  setUp(({ make, warnings }) => {
    for (
      const autosign of [
        make(),
        make({ autosign_file: null, autoreject_file: null, autosign_grains_dir: null }),
        make({ autosign_file: "", autoreject_file: "", autosign_grains_dir: "" }),
      ]
    ) {
      assertEquals(autosign.accepts("web1", map({ uuid: "x" })), false);
      assertEquals(autosign.rejects("web1"), false);
    }
    assertEquals(warnings, []);
  }),
);

Deno.test(
  "auto_accept accepts all minions and rejects none",
  setUp(({ make }) => {
    const autosign = make({ auto_accept: true });
    assert(autosign.accepts("web1"));
    assert(!autosign.rejects("web1"));
  }),
);

const LINES = `
# a comment
  web1
web2 # not a comment
db*
cache[12]
app-\\d{2}
(a|b)x
mail|smtp
q)|(r
([
`;
const IDS: [string, boolean][] = [
  ["web1", true],
  ["web12", false],
  ["xweb1", false],
  ["WEB1", false],
  ["web2", false],
  ["web2 # not a comment", true],
  ["db7", true],
  ["cache1", true],
  ["cache3", false],
  ["app-42", true],
  ["app-421", false],
  ["bx", true],
  ["mail", true],
  ["smtp", true],
  ["mailevil", false],
  ["evilsmtp", false],
  ["([", true],
  ["q", false],
  ["quite", false],
  ["r", false],
  ["# a comment", false],
  ["", false],
];
for (const [id, expected] of IDS) {
  Deno.test(
    `a file of ids, globs and expressions gives ${expected} for ${JSON.stringify(id)}`,
    setUp(({ dir, make }) => {
      write(`${dir}/autosign`, LINES);
      assertEquals(make().accepts(id), expected);
      assertEquals(make().rejects(id), false);
      write(`${dir}/autoreject`, LINES.replaceAll("\n", "\r\n"));
      assertEquals(make().rejects(id), expected);
    }),
  );
}

Deno.test(
  "a changed file is read again, and a removed one forgotten",
  setUp(({ dir, make }) => {
    const autosign = make();
    write(`${dir}/autosign`, "web1\n");
    assertEquals([autosign.accepts("web1"), autosign.accepts("web2")], [true, false]);
    write(`${dir}/autosign`, "web2\nweb3\n");
    assertEquals([autosign.accepts("web1"), autosign.accepts("web2")], [false, true]);
    Deno.removeSync(`${dir}/autosign`);
    assertEquals(autosign.accepts("web2"), false);
  }),
);

const MODES: [number, Partial<AutosignOpts>, Partial<AutosignHost>, boolean][] = [
  [0o600, {}, {}, true],
  [0o644, {}, {}, true],
  [0o646, {}, {}, false],
  [0o646, { permissive_pki_access: true }, { inGroup: () => true }, false],
  [0o664, {}, { inGroup: () => true }, false],
  [0o664, { permissive_pki_access: true }, { uid: 0, inGroup: () => true }, true],
  [0o664, { permissive_pki_access: true }, { uid: 0, inGroup: () => false }, false],
  [0o664, { permissive_pki_access: true }, { uid: 1000, inGroup: () => false }, true],
];
for (const [mode, opts, host, expected] of MODES) {
  const how = [...Object.keys(opts), ...(host.uid === 0 ? ["as root"] : [])].join(", ");
  Deno.test(
    `files with the mode ${mode.toString(8)} ${expected ? "count" : "do not count"}${how && ` (${how})`}`,
    setUp(({ dir, make, warnings }) => {
      Deno.mkdirSync(`${dir}/grains`);
      write(`${dir}/autosign`, "web1\n", mode);
      write(`${dir}/autoreject`, "db1\n", mode);
      write(`${dir}/grains/uuid`, "secret\n", mode);
      const autosign = make(opts, host);
      assertEquals(autosign.accepts("web1"), expected);
      assertEquals(autosign.rejects("db1"), expected);
      assertEquals(autosign.accepts("other", map({ uuid: "secret" })), expected);
      assertEquals(warnings.length > 0, !expected);
    }),
  );
}

Deno.test(
  "a stub accepts its id once",
  setUp(({ dir, make }) => {
    Deno.mkdirSync(`${dir}/minions_autosign`);
    write(`${dir}/minions_autosign/web1`, "");
    const autosign = make();
    assertEquals([autosign.accepts("web2"), autosign.accepts("web1"), autosign.accepts("web1")], [false, true, false]);
    assertEquals([...Deno.readDirSync(`${dir}/minions_autosign`)], []);
  }),
);

Deno.test(
  "a stub expires after autosign_timeout minutes, for every minion, and never with 0",
  setUp(({ dir, make, warnings }) => {
    Deno.mkdirSync(`${dir}/minions_autosign`);
    write(`${dir}/minions_autosign/web1`, "");
    write(`${dir}/minions_autosign/web2`, "");
    const later = { now: () => Date.now() + 121 * 60_000 };
    assert(make({ autosign_timeout: 0 }, later).accepts("web1"));
    assert(!make({ autosign_timeout: 122 }, later).accepts("other"));
    assertEquals(warnings, []);
    assert(!make({}, later).accepts("other"));
    assertEquals(warnings.length, 1);
    assert(!make().accepts("web2"));
  }),
);

Deno.test(
  "an invalid id matches no stub, and a directory is no stub",
  setUp(({ dir, make }) => {
    Deno.mkdirSync(`${dir}/minions_autosign/directory`, { recursive: true });
    write(`${dir}/precious`, "x");
    const autosign = make();
    for (const id of ["../precious", "..", "", "directory", ".", `${dir}/precious`]) {
      assertEquals(autosign.accepts(id), false, id);
    }
    assertEquals(Deno.readTextFileSync(`${dir}/precious`), "x");
    assert(Deno.statSync(`${dir}/minions_autosign/directory`).isDirectory);
  }),
);

Deno.test(
  "a grain accepts a minion if its value is a line of the grain's file",
  setUp(({ dir, make }) => {
    Deno.mkdirSync(`${dir}/grains/directory`, { recursive: true });
    write(`${dir}/grains/uuid`, "# comment\n\n  one \ntwo\n17\nTrue\n");
    write(`${dir}/outside`, "x\n");
    const autosign = make();
    const cases: [Record<string, unknown>, boolean][] = [
      [{ uuid: "one" }, true],
      [{ other: "x", uuid: "two" }, true],
      [{ uuid: 17 }, true],
      [{ uuid: true }, true],
      [{ uuid: "three" }, false],
      [{ uuid: "" }, false],
      [{ uuid: "# comment" }, false],
      [{ uuid: ["one"] }, false],
      [{ uuid: null }, false],
      [{ other: "one" }, false],
      [{ "../outside": "x" }, false],
      [{ directory: "x" }, false],
      [{}, false],
    ];
    for (const [grains, expected] of cases) {
      assertEquals(autosign.accepts("web1", map(grains)), expected, JSON.stringify(grains));
    }
    assertEquals(autosign.accepts("web1"), false);
  }),
);

const ENDLESS = "(a*)(a*)(a*)(a*)\\4\\3\\2\\1b";

Deno.test(
  "an expression that takes too many steps accepts no minion, and later lines are still read",
  setUp(({ dir, make }) => {
    write(`${dir}/autosign`, `${ENDLESS}\nweb1\n`);
    const autosign = make();
    assertEquals(autosign.accepts("a".repeat(255)), false);
    assertEquals(autosign.accepts("web1"), true);
    // It rejects no minion either.
    write(`${dir}/autoreject`, `${ENDLESS}\n`);
    assertEquals(make().rejects("a".repeat(255)), false);
  }),
);

Deno.test(
  "who is in a file's group is who the host says",
  setUp(({ dir, make }) => {
    write(`${dir}/autosign`, "web*\n", 0o664);
    const accepts = (user: string) => make({ user, permissive_pki_access: true }, { uid: 0 }).accepts("web1", map({}));
    const group = Deno.readTextFileSync("/etc/group").split("\n").map((line) => line.split(":"))
      .find(([, , , members]) => members !== undefined && members !== "");
    // Not every host has a group with members.
    if (group !== undefined) {
      Deno.chownSync(`${dir}/autosign`, null, Number(group[2]));
      assertEquals(accepts(group[3].split(",")[0]), true);
    }
    Deno.chownSync(`${dir}/autosign`, null, 4_000_000);
    assertEquals([accepts("no_such_user_here"), accepts("root")], [false, false]);
  }),
);
