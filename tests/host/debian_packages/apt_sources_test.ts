import {
  changeAptRepository,
  deleteAptRepository,
  getAptRepository,
  listAptRepositories,
} from "#lib/host/debian_packages/apt_repositories.ts";
import { definedRepository } from "#lib/host/debian_packages/apt_definition.ts";
import { compareDebianVersions } from "#lib/host/debian_packages/debian_version.ts";
import { matchingVersion, splitComparison } from "#lib/host/packages/version_match.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const CORPUS = parseJson(Deno.readTextFileSync(new URL("../../corpus/packages.json", import.meta.url)));

function part(name: string): Value {
  const entry = isMap(CORPUS) ? CORPUS.get(name) : undefined;
  assert(entry !== undefined);
  return entry;
}

/** Runs `test` with a root directory whose sources are these files. */
function withSources(files: Iterable<readonly [Value, Value]>, test: (root: string) => void): void {
  const root = Deno.makeTempDirSync({ prefix: "sources_" });
  try {
    Deno.mkdirSync(`${root}/etc/apt/sources.list.d`, { recursive: true });
    for (const [name, text] of files) {
      const place = name === "sources.list" ? "etc/apt" : "etc/apt/sources.list.d";
      Deno.writeTextFileSync(`${root}/${place}/${str(name)}`, str(text));
    }
    test(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("compareDebianVersions() orders as dpkg does", () => {
  const rows = part("versions");
  assert(Array.isArray(rows) && rows.length > 500);
  const wrong = rows.filter((row) => Array.isArray(row) && compareDebianVersions(str(row[0]), str(row[1])) !== row[2]);
  assertEquals(wrong, []);
});

Deno.test("listRepositories() shows what Salt's pkg.list_repos shows", () => {
  const files = part("sources");
  assert(isMap(files));
  withSources(files, (root) => assertEquals(listAptRepositories(root), part("repos")));
});

Deno.test("a repository is added, changed and deleted; comments and other lines are kept", () => {
  const main = "# my own\ndeb http://a.example/ sid main\nnonsense\n";
  withSources([["sources.list", main]], (root) => {
    const file = "/etc/apt/sources.list.d/new.list";
    const line = "deb [signed-by=/k.gpg] http://b.example sid main";
    changeAptRepository(line, { kwargs: map({ file, comments: "why" }), needsKey: true, root });
    assertEquals(Deno.readTextFileSync(root + file), "deb [signed-by=/k.gpg] http://b.example sid main #why\n");
    changeAptRepository(line, { kwargs: map({ comps: "main,contrib", disabled: true }), needsKey: true, root });
    assertEquals(
      Deno.readTextFileSync(root + file),
      "# deb [signed-by=/k.gpg] http://b.example sid main contrib #why\n",
    );
    assertEquals(getAptRepository(line, root).get("comps"), ["main", "contrib"]);
    changeAptRepository("deb http://a.example sid main", {
      kwargs: map({ architectures: "amd64" }),
      needsKey: true,
      root,
    });
    assertEquals(
      Deno.readTextFileSync(`${root}/etc/apt/sources.list`),
      "# my own\ndeb [arch=amd64] http://a.example sid main\nnonsense\n",
    );
    assertEquals(
      deleteAptRepository("deb http://b.example sid main contrib", root),
      `File ${file} containing repo 'deb http://b.example sid main contrib' has been removed.`,
    );
    assertThrows(() => Deno.statSync(root + file), Deno.errors.NotFound);
    assertEquals(getAptRepository(line, root), map({}));
    assertThrows(() => deleteAptRepository(line, root), Error, "doesn't exist in the sources.list(s)");
  });
});

Deno.test("an entry of deb822 is added and changed in its file", () => {
  withSources([], (root) => {
    const file = "/etc/apt/sources.list.d/x.sources";
    changeAptRepository("deb http://a.example sid main", {
      kwargs: map({ file, trusted: true }),
      needsKey: true,
      root,
    });
    const text = "Types: deb\nURIs: http://a.example\nSuites: sid\nComponents: main\nTrusted: yes\n";
    assertEquals(Deno.readTextFileSync(root + file), text);
    changeAptRepository("deb http://a.example sid main", { kwargs: map({ enabled: false }), needsKey: true, root });
    assertEquals(Deno.readTextFileSync(root + file), `Enabled: no\n${text}`);
  });
});

Deno.test("a repository with a line break is refused, and one without a key unless it is trusted", () => {
  withSources([], (root) => {
    const change = (repo: string, kwargs: Record<string, unknown> = {}) =>
      changeAptRepository(repo, {
        kwargs: map({ file: "/etc/apt/sources.list.d/x.list", ...kwargs }),
        needsKey: true,
        root,
      });
    assertThrows(() => change("deb http://a sid main"), Error, "missing 'signedby' or 'trusted' option");
    assertThrows(() => change("nonsense"), Error, "Name nonsense is not valid");
    assertThrows(
      () => change("deb http://a sid main", { trusted: true, comps: "x\ndeb http://evil sid main" }),
      Error,
      "Invalid repository",
    );
    assertEquals(listAptRepositories(root), map({}));
  });
});

for (
  const [wanted, version] of [
    ["1.0", "1.0"],
    [">=1.1", "2.0"],
    ["<2.0", "1.0"],
    [">2.0", undefined],
    ["!=2.0", "1.0"],
    [
      "<>1.0",
      undefined,
    ],
  ] as const
) {
  Deno.test(`matchingVersion() for ${wanted} finds ${version}`, () => {
    assertEquals(matchingVersion(wanted, ["2.0", "1.0"], { order: compareDebianVersions }), version);
  });
}

Deno.test("splitComparison() separates the operator", () => {
  assertEquals([">=1.0", "1.0", "<< 2", ">=<1"].map(splitComparison), [[">=", "1.0"], ["", "1.0"], ["<<", "2"], [
    "",
    ">=<1",
  ]]);
});

Deno.test("components are deleted one by one, then the entry; an invalid definition is refused", () => {
  const text = "deb http://a.example sid main contrib non-free\ndeb [arch=amd64] http://a.example sid main\n";
  withSources([["sources.list", text]], (root) => {
    const left = () => Deno.readTextFileSync(`${root}/etc/apt/sources.list`);
    const remove = (repo: string) => deleteAptRepository(repo, root);
    assertThrows(() => remove("nonsense"), Error, "Repo nonsense doesn't exist in the sources.list(s)");
    assertThrows(() => remove("deb [arch=amd64]"), Error, "Invalid repository definition");
    assertEquals(
      remove("deb http://a.example sid contrib other"),
      "Repo 'deb http://a.example sid contrib other' has been removed from /etc/apt/sources.list.\n",
    );
    assertEquals(left(), "deb http://a.example sid main non-free\ndeb [arch=amd64] http://a.example sid main\n");
    remove("deb http://a.example sid main non-free other");
    assertEquals(left(), "deb [arch=amd64] http://a.example sid main\n");
    assertThrows(() => remove("deb http://a.example sid main"), Error, "doesn't exist in the sources.list(s)");
    assertEquals(getAptRepository("nonsense", root), map({}));
    assertEquals(getAptRepository("deb http://a.example sid nosuch", root), map({}));
  });
});

Deno.test("entries that differ only in their components are joined in sources.list on request", () => {
  const files: [Value, Value][] = [
    ["sources.list", "deb http://a.example sid main\n"],
    ["more.list", "deb http://a.example sid contrib main\ndeb http://b.example sid main\n"],
  ];
  withSources(files, (root) => {
    changeAptRepository("deb http://c.example sid main", { kwargs: map({ consolidate: true }), needsKey: false, root });
    assertEquals(
      Deno.readTextFileSync(`${root}/etc/apt/sources.list`),
      "deb http://a.example sid main contrib\ndeb http://b.example sid main\ndeb http://c.example sid main\n",
    );
    assertThrows(() => Deno.statSync(`${root}/etc/apt/sources.list.d/more.list`), Deno.errors.NotFound);
  });
});

Deno.test("a key inside an entry is kept, line by line", () => {
  const key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----";
  const text = `# only words\n\nTypes: deb\nURIs: http://a.example\nSuites: sid\nComponents: main\n${key}\n`;
  withSources([["a.sources", text]], (root) => {
    changeAptRepository("deb http://a.example sid main", { kwargs: map({ enabled: false }), needsKey: true, root });
    assertEquals(
      Deno.readTextFileSync(`${root}/etc/apt/sources.list.d/a.sources`),
      text.replace("Types:", "Enabled: no\nTypes:").replace("Signed-By:\n ", "Signed-By: "),
    );
  });
});

Deno.test("a host without sources has none", () =>
  withTemporaryDirectory((root) => {
    assertEquals(listAptRepositories(root), map({}));
  }));

const UBUNTU = map({ os: "Ubuntu", oscodename: "noble" });

for (
  const [repo, kwargs, fields] of [
    ["deb http://a.example noble main", {}, {
      uri: "http://a.example",
      dist: "noble",
      comps: ["main"],
      disabled: false,
    }],
    ["deb http://a.example noble main", { comps: "x, y", architectures: "amd64,i386" }, {
      comps: ["x", "y"],
      architectures: ["amd64", "i386"],
    }],
    ["deb http://a.example noble main", { uri: "http://b", dist: "sid", disabled: true, signedby: "/k.gpg" }, {
      uri: "http://b",
      dist: "sid",
      disabled: true,
      signedby: "/k.gpg",
    }],
    ["deb http://a.example noble main", {
      file: "/etc/apt/sources.list.d/x.sources",
      types: ["deb", "deb-src"],
      suites: ["noble", "noble-updates"],
    }, { types: ["deb", "deb-src"], suites: ["noble", "noble-updates"], file: "/etc/apt/sources.list.d/x.sources" }],
    ["ppa:own/er", {}, {
      uri: "http://ppa.launchpad.net/own/er/ubuntu",
      file: "/etc/apt/sources.list.d/own-er-noble.list",
      comps: ["main"],
    }],
    ["ppa:own/er", { ppa_auth: "me:secret", file: "/x.list" }, {
      uri: "https://me:secret@private-ppa.launchpad.net/own/er/ubuntu",
      file: "/x.list",
    }],
  ] as const
) {
  Deno.test(`the definition of ${repo} with ${JSON.stringify(kwargs)}`, () => {
    const defined = definedRepository(repo, map(kwargs), testContext({ grains: UBUNTU }));
    assertEquals(map(Object.fromEntries(Object.keys(fields).map((key) => [key, defined.get(key)]))), map(fields));
  });
}

Deno.test("an invalid repository is refused, and so is a PPA on a distribution without PPAs", () => {
  const define = (repo: string, os: string) =>
    definedRepository(repo, map({}), testContext({ grains: map({ os, oscodename: "x" }) }));
  assertThrows(() => define("nonsense", "Debian"), Error, "Error: repo 'nonsense' is not a well formatted definition");
  assertThrows(() => define("ppa:own/er", "Debian"), Error, 'cannot parse "ppa:" style repo definitions: ppa:own/er');
  assertThrows(() => define("ppa:owner", "Ubuntu"), Error, "Received 'owner' instead.");
});
