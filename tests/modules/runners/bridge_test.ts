/** Runner `bridge`; the function of a minion: tests/minion/python/python_imports_test.ts. */

import { CommandError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

const PLUGINS = {
  "salt/_modules/works.py": "import os\ndef f(): return os.name\n",
  "salt/_executors/exec.py": "import no_such_library\ndef execute(opts, data, func, args, kwargs): pass\n",
  "salt/_matchers/rack_match.py": "def match(tgt): return True\n",
  "salt/files/other.py": "import no_such_library\n",
  "ext/runners/synced.py": "def f(): return 1\n",
  "more/modules/mine.py": "def f(): return 1\n",
};

Deno.test("bridge.check looks at the plugins of every family in the roots, the synced ones and those of module_dirs", () =>
  withRunnerFixture(async ({ root, call, done }) => {
    for (const [name, text] of Object.entries(PLUGINS)) {
      Deno.mkdirSync(`${root}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${root}/${name}`, text);
    }
    assertEquals(
      await call("bridge.check"),
      map({
        [`${root}/salt/_executors/exec.py`]: ["does not load", "needs no_such_library (line 1)"],
        [`${root}/salt/_matchers/rack_match.py`]: "works",
        [`${root}/salt/_modules/works.py`]: "works",
        [`${root}/ext/runners/synced.py`]: "works",
        [`${root}/more/modules/mine.py`]: "works",
      }),
    );
    assertEquals(done.splice(0), ["retcode 1"]);
    assertEquals(
      await call("bridge.check", [`${root}/salt/_modules`]),
      map({
        [`${root}/salt/_modules/works.py`]: "works",
      }),
    );
    assertEquals(done, []);
    await assertRejects(() => call("bridge.check", ["salt/x.py"]), CommandError, "salt/x.py is no absolute path");
  }, "extension_modules: {root}/ext\nmodule_dirs: ['{root}/more']\nfile_roots: {base: ['{root}/salt']}\n"));
