import { writeScripts } from "#scripts/build/executables.ts";
import { makeArtefacts } from "#scripts/release/artefacts.ts";
import { PLATFORMS } from "#scripts/release/platforms.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { VERSION } from "#lib/version.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { PACKAGES, ScratchHost, whyNoScratchHost } from "./scratch_host.ts";

/** The version of the upgrade. */
const NEXT = "0.999.0";
const EPOCH = 1_790_000_000;
/** The releases that were made, so that the tests of this file share them. */
const releases = await Deno.makeTempDir({ prefix: "release_test_" });
globalThis.addEventListener("unload", () => Deno.removeSync(releases, { recursive: true }));

const own = PLATFORMS.filter(({ target, packages }) => target === Deno.build.target && packages !== undefined);
const whyNot = own.length === 0 ? `no packages for ${Deno.build.target}` : whyNoScratchHost();

/**
 * Makes releases of the given versions from scripts that are bundled for them.
 * @returns What was left out.
 */
async function makeReleases(versions: Readonly<Record<string, string>>): Promise<string[]> {
  const stage = await Deno.makeTempDir({ prefix: "salt_build_" });
  try {
    const scripts = await writeScripts(stage);
    const skipped: string[] = [];
    for (const [directory, version] of Object.entries(versions)) {
      const out = `${releases}/${directory}`;
      await Deno.mkdir(out);
      skipped.push(...await makeArtefacts({ version, epoch: EPOCH, platforms: own, stage, scripts, out }));
    }
    return [...new Set(skipped)];
  } finally {
    await Deno.remove(stage, { recursive: true });
  }
}

/** What was left out of the first release; `undefined` before it is made. */
let skipped: string[] | undefined;

Deno.test({
  name: `the same sources make the same bytes${own.length === 0 ? ` (${whyNot})` : ""}`,
  ignore: own.length === 0,
  async fn() {
    skipped = await makeReleases({ first: VERSION, next: NEXT });
    await makeReleases({ again: VERSION });
    const [first, again] = ["first", "again"].map((name) => Deno.readTextFileSync(`${releases}/${name}/SHA256SUMS`));
    assertEquals(again, first);
    const names = first.trimEnd().split("\n").map((line) => line.slice(66));
    const [{ name: platform }] = own;
    for (const program of ["salt", "salt-master", "salt-minion"]) {
      assert(names.includes(`${program}-${VERSION}-${platform}`), program);
    }
    const { success } = await new Deno.Command("sha256sum", {
      args: ["--check", "--quiet", "SHA256SUMS"],
      cwd: `${releases}/first`,
    }).output();
    assert(success);
    const sbom = JSON.parse(Deno.readTextFileSync(`${releases}/first/salt-deno-${VERSION}-${platform}.spdx.json`));
    const packages: { name: string; licenseDeclared: string }[] = sbom.packages;
    for (const name of ["Deno", "V8", "libzmq", "zeromq", "js-yaml", "serde_json"]) {
      assert(packages.some((each) => each.name === name), name);
    }
  },
});

/** The processes of a scratch host whose program is Deno, by the release that each runs from. */
const RUNNING_FROM =
  `for exe in /proc/[0-9]*/exe; do readlink "$exe" || true; done | sed -n 's|^/var/lib/salt-deno/\\(.*\\)/deno$|\\1|p' | sort -u`;

Deno.test({
  name: `packages are installed, upgraded while a job runs, removed and purged${
    whyNot === undefined ? "" : ` (${whyNot})`
  }`,
  ignore: whyNot !== undefined,
  async fn(t) {
    assert(skipped !== undefined, "the first test makes the packages");
    if (skipped.some((line) => line.includes("dpkg-deb"))) throw new Error(skipped.join("\n"));
    await using host = await ScratchHost.start(releases);
    const debs = (release: string) => `${PACKAGES}/${release}/*.deb`;

    await t.step("installed: programs run, and everything is in its place", async () => {
      await host.shell(`dpkg -i ${debs("first")}`);
      assertStringIncludes(await host.shell("salt-minion --version"), VERSION);
      assertStringIncludes(await host.shell("salt-call --licenses"), "libsodium: ISC");
      assertEquals(
        await host.shell("getent passwd salt | cut -d: -f6; stat -c %U /var/lib/salt"),
        "/var/lib/salt\nsalt\n",
      );
      const packages = "salt-deno salt-deno-common salt-deno-master salt-deno-minion";
      const files = await host.shell(`dpkg -L ${packages} | sort -u`);
      for (
        const path of [
          "/usr/share/man/man8/salt-minion.8",
          "/usr/share/man/man1/salt-key.1",
          "/usr/share/bash-completion/completions/salt-call",
          "/usr/share/zsh/vendor-completions/_salt",
          "/usr/share/doc/salt-deno/LICENSE",
          "/usr/share/doc/salt-deno-minion/copyright",
        ]
      ) assertStringIncludes(files, `${path}\n`);
      await host.shell(`systemd-analyze verify --man=no /usr/lib/systemd/system/salt-m*.service`);
      const conffiles = "dpkg-query -W -f '${Conffiles}\\n'" + ` ${packages} | sed -n 's/^ \\([^ ]*\\).*/\\1/p'`;
      assertEquals(await host.shell(conffiles), "/etc/salt/master\n/etc/salt/minion\n");
    });

    const [publishPort, requestPort] = [freePort(), freePort()];
    await t.step("master and minion start with the files of the packages, the master as its own user", async () => {
      await host.shell(`
        printf 'interface: 127.0.0.1\\npublish_port: ${publishPort}\\nret_port: ${requestPort}\\n' > /etc/salt/master.d/test.conf
        printf 'master_port: ${requestPort}\\nacceptance_wait_time: 1\\n' > /etc/salt/minion.d/test.conf
        sed -i 's/^#master:.*/master: 127.0.0.1/; s/^#id:.*/id: web1/' /etc/salt/minion
        salt-master -d && salt-minion -d`);
      await eventually(async () => (await host.shell("salt-key -l pre")).includes("web1"), { what: "the key" });
      await host.shell("salt-key -y -a web1");
      await eventually(async () => (await host.run("salt web1 test.ping")).code === 0, { what: "the sign-in" });
      assertEquals(
        await host.shell("stat -c %U /etc/salt/pki/master/master.pem /proc/$(cat /run/salt-master.pid)"),
        "salt\nsalt\n",
      );
    });

    await t.step("an upgrade replaces nothing that runs: jobs end, and their returns arrive", async () => {
      const start = async (words: string) => {
        const said = await host.shell(`salt --async web1 ${words}`);
        assertMatch(said, /job ID: \d{20}/);
        return /\d{20}/.exec(said)?.[0];
      };
      const command = await start(`cmd.run 'until [ -e /go ]; do sleep 0.2; done; echo done'`);
      const sleep = await start("test.sleep 30");
      const before = await host.shell(RUNNING_FROM);
      await host.shell(`dpkg -i ${debs("next")}`);
      assertEquals(await host.shell(RUNNING_FROM), before);
      assertEquals((await host.shell("ls /var/lib/salt-deno")).trim().split("\n").length, 2);
      assertStringIncludes(await host.shell("cat /etc/salt/minion"), "\nid: web1\n");
      assertStringIncludes(await host.shell("salt web1 saltutil.running"), String(command));
      assertEquals((await host.run("timeout 2 /usr/lib/salt-deno/restart-when-idle")).code, 124);
      await host.shell("touch /go");
      for (const [jid, result] of [[command, '"done"'], [sleep, "true"]]) {
        const lookup = `salt-run --out=json --out-indent=-1 jobs.lookup_jid ${jid}`;
        await eventually(async () => (await host.run(lookup)).out.includes(`"web1": ${result}`), {
          what: `the return of ${jid}`,
          withinMs: 120_000,
          everyMs: 500,
        });
      }
    });

    await t.step("the next start is of the new version, and what the old one unpacked goes", async () => {
      const old = (await host.shell(RUNNING_FROM)).trim();
      await host.shell(`kill $(cat /run/salt-minion.pid) $(cat /run/salt-master.pid)
        tries=300; while [ -e /run/salt-minion.pid ] || [ -e /run/salt-master.pid ]; do
          sleep 0.2; tries=$((tries - 1)); [ $tries -gt 0 ]; done
        salt-master -d && salt-minion -d`);
      await eventually(async () => (await host.run("salt web1 test.ping")).code === 0, { what: "the minion" });
      assert((await host.shell(RUNNING_FROM)).trim().startsWith(`${NEXT}-`));
      await host.shell("/usr/lib/salt-deno/remove-old-releases");
      const left = (await host.shell("ls /var/lib/salt-deno")).trim();
      assert(left.startsWith(`${NEXT}-`) && left !== old, left);
    });

    await t.step("removed, the configuration stays; purged, only the keys stay", async () => {
      await host.shell("kill $(cat /run/salt-minion.pid) $(cat /run/salt-master.pid)");
      await host.shell("dpkg -r salt-deno-master salt-deno-minion salt-deno salt-deno-common");
      assertEquals((await host.run("ls /usr/bin/salt-minion /usr/lib/systemd/system/salt-minion.service")).out, "");
      await host.shell("grep -q '^id: web1' /etc/salt/minion && test -e /var/cache/salt/master");
      await host.shell("dpkg -P salt-deno-master salt-deno-minion salt-deno salt-deno-common");
      const gone = "/etc/salt/minion /etc/salt/master /var/cache/salt/master /var/cache/salt/minion /var/lib/salt-deno";
      assertEquals((await host.run(`ls -d ${gone}`)).out, "");
      assertEquals(await host.shell("ls /etc/salt/pki/master/minions"), "web1\n");
    });

    await t.step({
      name: "rpm installs, upgrades with an edited configuration, and removes",
      ignore: skipped.some((line) => line.includes("rpmbuild")),
      async fn() {
        const rpms = (release: string) => `${PACKAGES}/${release}/*.rpm`;
        // This system has no database of rpm that the libraries are in.
        await host.shell(`rpm --install --nodeps ${rpms("first")} && test -e /etc/salt/master`);
        assertStringIncludes(await host.shell("salt-call --version"), VERSION);
        assertEquals(await host.shell("rpm -qc salt-deno-minion"), "/etc/salt/minion\n");
        await host.shell(`echo 'id: db1' >> /etc/salt/minion && rpm --upgrade --nodeps ${rpms("next")}`);
        assertEquals(
          await host.shell("tail -n 1 /etc/salt/minion; rpm -q salt-deno-minion"),
          `id: db1\nsalt-deno-minion-${NEXT}-1.x86_64\n`,
        );
        await host.shell("rpm --erase salt-deno-master salt-deno-minion salt-deno salt-deno-common");
        assertEquals((await host.run("ls /usr/bin/salt-minion")).out, "");
        assertStringIncludes(await host.shell("cat /etc/salt/minion.rpmsave"), "id: db1\n");
      },
    });
  },
});
