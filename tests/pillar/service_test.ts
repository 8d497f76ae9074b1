import { decode } from "#lib/values/msgpack.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { PillarContext } from "#lib/plugins/pillar_source.ts";
import type { PillarHost } from "#lib/pillar/host.ts";
import type { TopContext } from "#lib/plugins/top_source.ts";
import { PILLAR_SOURCES } from "#modules/pillar/_built_in.ts";
import { PillarService } from "#lib/pillar/service.ts";
import { type PillarRequest, plainRequest } from "#lib/pillar/request.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { isMap, map, repr, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";

/** The language of a simple renderer: `<os>` is a grain, `<id>` is the minion's id. */
const FILES = { "top.sls": "base:\n  '*': [common, os]\n", "common.sls": "c: 1\n", "os.sls": "os: <os>\n" };

interface Fixture {
  /** Requests a pillar. */
  ask(request?: Partial<PillarRequest> & { readonly os?: string; readonly other?: string }): Promise<string>;
  /** The files rendered since the last call. */
  rendered(): string[];
  write(name: string, text: string): void;
  readonly cachedir: string;
}

async function withService(options: Readonly<Record<string, Value>>, act: (scope: Fixture) => Promise<void>) {
  const root = Deno.makeTempDirSync({ prefix: "pillar_service_" });
  const write = (name: string, text: string) => Deno.writeTextFileSync(`${root}/${name}`, text);
  for (const [name, text] of Object.entries(FILES)) write(name, text);
  const overrides = { root_dir: root, id: "m_master", pillar_roots: map({ base: [root] }), ...options };
  const { opts } = loadMasterConfig({ configDir: root, readsFiles: false, overrides });
  let files: string[] = [];
  const host: PillarHost = {
    opts,
    values: optsValues(opts),
    sources: { ...loadFamily<PillarContext>(PILLAR_SOURCES), table: PILLAR_SOURCES, notBuilt: new Set() },
    tops: { ...loadFamily<TopContext>({}), table: {}, notBuilt: new Set() },
    signal: new AbortController().signal,
    render({ text, path }, { grains, opts }) {
      files.push(path.slice(root.length + 1));
      const filled = text.replace("<os>", () => str(grains.get("os") ?? null)).replace(
        "<id>",
        () => str(opts.get("id") ?? null),
      );
      return Promise.resolve(loadYaml(filled) ?? new Map());
    },
    decrypt: (value) => Promise.resolve(value),
    call: () => Promise.resolve("e: 1"),
    log: () => {},
  };
  const service = new PillarService(opts, host);
  const scope: Fixture = {
    write,
    cachedir: opts.cachedir,
    rendered: () => files.splice(0).sort(),
    async ask({ id = "web1", os = "Debian", other = "", ...request } = {}) {
      return repr(decode(await service.pillar(plainRequest(id, map({ os, other }), request)), "wire"));
    },
  };
  try {
    // A file that has just changed may change again with the same modification time, so such a pillar is not cached.
    await eventually(async () => {
      await scope.ask();
      files = [];
      await scope.ask();
      return files.length === 0;
    }, { withinMs: 10_000, what: "a pillar that is kept" });
    files = [];
    await act(scope);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

const DEBIAN = "{'c': 1, 'os': 'Debian'}";

Deno.test("a pillar is compiled once, until a grain that it used changes, or a file", async () => {
  await withService({}, async ({ ask, rendered, write }) => {
    assertEquals([await ask(), await ask({ other: "changed" })], [DEBIAN, DEBIAN]);
    assertEquals(rendered(), []);
    assertEquals(await ask({ os: "Rocky" }), "{'c': 1, 'os': 'Rocky'}");
    assertEquals(rendered(), ["os.sls"]);
    write("common.sls", "c: 22\n");
    assertEquals(await ask(), "{'c': 22, 'os': 'Debian'}");
    assertEquals(rendered(), ["common.sls"]);
  });
});

Deno.test("minions share the rendering of a file that does not depend on the minion; a file that reads the id is rendered for each minion", async () => {
  await withService({}, async ({ ask, rendered, write }) => {
    assertEquals(await ask({ id: "web2" }), DEBIAN);
    assertEquals(rendered(), []);
    write("os.sls", "secret: <id>\n");
    assertEquals([await ask(), await ask({ id: "web2" })], [
      "{'c': 1, 'secret': 'web1'}",
      "{'c': 1, 'secret': 'web2'}",
    ]);
    await eventually(async () => {
      rendered();
      assertEquals([await ask(), await ask({ id: "web2" })], [
        "{'c': 1, 'secret': 'web1'}",
        "{'c': 1, 'secret': 'web2'}",
      ]);
      return rendered().length === 0;
    }, { withinMs: 10_000, what: "both to be kept" });
  });
});

Deno.test("a replaced or deleted file is detected", async () => {
  await withService({}, async ({ ask, write }) => {
    write("top.sls", "base:\n  '*': [common]\n");
    assertEquals(await ask(), "{'c': 1}");
    write("new.sls", "n: 1\n");
    write("top.sls", "base:\n  '*': ['*o*']\n");
    assertStringIncludes(await ask(), "'c': 1");
    write("other.sls", "o: 1\n");
    assertStringIncludes(await ask(), "'o': 1");
  });
});

Deno.test("values of the caller are used only for that request", async () => {
  await withService({}, async ({ ask, cachedir }) => {
    assertEquals(await ask({ override: map({ c: 2 }) }), "{'c': 2, 'os': 'Debian'}");
    assertEquals(await ask(), DEBIAN);
    const kept = decode(Deno.readFileSync(`${cachedir}/pillar/web1.p`), "disk");
    assert(isMap(kept));
    assertEquals(repr(kept), DEBIAN);
  });
});

Deno.test("a pillar whose entry of the data cache was removed is stored again at the next request", async () => {
  await withService({}, async ({ ask, cachedir, rendered }) => {
    const path = `${cachedir}/pillar/web1.p`;
    Deno.removeSync(path);
    assertEquals(await ask(), DEBIAN);
    assertEquals(rendered(), [], "the pillar in memory is still valid");
    assertEquals(repr(decode(Deno.readFileSync(path), "disk")), DEBIAN);
  });
});

Deno.test("a master without a minion data cache writes no pillar to its disk", async () => {
  await withService({ minion_data_cache: false }, async ({ ask, cachedir }) => {
    assertEquals(await ask({ id: "web2" }), DEBIAN);
    assertEquals(lexistsOrThrow(`${cachedir}/pillar`), false);
  });
});

Deno.test("with pillar_cache nothing changes before its time is over, or the cache is cleared", async () => {
  for (const pillar_cache_backend of ["disk", "memory"]) {
    await withService({ pillar_cache: true, pillar_cache_backend }, async ({ ask, write }) => {
      write("common.sls", "c: 2\n");
      assertEquals([await ask(), await ask({ os: "Rocky" })], [DEBIAN, DEBIAN]);
      assertEquals(await ask({ override: map({ c: 9 }) }), "{'c': 9, 'os': 'Debian'}");
      assertEquals(await ask({ cleanCache: true }), "{'c': 2, 'os': 'Debian'}");
    });
  }
  await withService({ pillar_cache: true, pillar_cache_ttl: 0 }, async ({ ask, write }) => {
    write("common.sls", "c: 2\n");
    assertEquals(await ask(), "{'c': 2, 'os': 'Debian'}");
  });
});

Deno.test("a pillar of pillar_cache is kept up to the millisecond of its time, also without a minion data cache", async () => {
  const options = { pillar_cache: true, pillar_cache_ttl: 60, minion_data_cache: false };
  await withService(options, async ({ ask, write, cachedir }) => {
    write("common.sls", "c: 2\n");
    const stored = Number(Deno.statSync(`${cachedir}/pillar/web1.p`).mtime);
    for (const [ageMs, pillar] of [[59_999, DEBIAN], [60_000, "{'c': 2, 'os': 'Debian'}"]] as const) {
      await withReplaced(
        Date,
        { name: "now", by: () => stored + ageMs },
        async () => assertEquals(await ask(), pillar),
      );
    }
  });
});

Deno.test("the pillar of another environment is not stored for targets by pillar", async () => {
  await withService({}, async ({ ask, cachedir }) => {
    assertEquals(await ask({ pillarenv: "base" }), DEBIAN);
    assertEquals([...Deno.readDirSync(`${cachedir}/pillar`)].map(({ name }) => name), ["web1.p"]);
  });
});

Deno.test("without pillar_cache, a request for a clean cache leaves the pillar that targets use", async () => {
  await withService({ pillar_max_bytes: 65_536 }, async ({ ask, write, cachedir }) => {
    write("common.sls", `c: ${"x".repeat(70_000)}\n`);
    assertStringIncludes(await ask({ cleanCache: true }), "more than the 65536 that pillar_max_bytes allows");
    assertEquals(lexistsOrThrow(`${cachedir}/pillar/web1.p`), true);
  });
});

Deno.test("the command of an external pillar runs each time, and a pillar that is too large is an error message", async () => {
  await withService(
    { ext_pillar: [map({ cmd_yaml: "x" })], pillar_max_bytes: 65_536 },
    async ({ ask, rendered, write }) => {
      assertEquals([await ask(), await ask()], [
        "{'c': 1, 'os': 'Debian', 'e': 1}",
        "{'c': 1, 'os': 'Debian', 'e': 1}",
      ]);
      // The rendered files are cached nevertheless.
      assertEquals(rendered(), []);
      write("common.sls", `c: ${"x".repeat(70_000)}\n`);
      assertStringIncludes(await ask(), "more than the 65536 that pillar_max_bytes allows");
    },
  );
});

Deno.test("a data cache whose directory cannot be looked at costs no minion its pillar", async () => {
  await withService({}, async ({ ask, cachedir, rendered }) => {
    Deno.removeSync(`${cachedir}/pillar`, { recursive: true });
    // A link to itself.
    Deno.symlinkSync("pillar", `${cachedir}/pillar`);
    assertEquals([await ask(), rendered()], [DEBIAN, []]);
    assertEquals([await ask({ os: "Rocky" }), rendered()], ["{'c': 1, 'os': 'Rocky'}", ["os.sls"]]);
  });
});
