/**
 * Sources of pillar and of master_tops in Python, and pillar files in Python.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const PILLAR = `
import own_pillar_part
def __virtual__():
    return "own"
def ext_pillar(minion_id, pillar, *args, **kwargs):
    return {"own": {
        "id": minion_id, "kernel": __grains__["kernel"], "sees": sorted(pillar), "args": list(args), "kwargs": kwargs,
        "role": __opts__["__role"], "echo": __salt__["test.echo"]("x"), "has": "no.such" in __salt__,
        "module": __salt__["br.ping"](), "part": own_pillar_part.part(),
    }}
`;

fleetTest(
  "a source of pillar in Python gets the minion, its grains and arguments; one that fails leaves the others",
  {
    minions: ["web1"],
    master: {
      ext_pillar: [{ own: ["a", 2] }, { fails: 1 }, { refused: 1 }, { last: { k: 1 } }],
      pillar_roots: { base: ["/nonexistent"] },
    },
  },
  async (fleet) => {
    const extmods = fleet.masterOpts.extension_modules;
    const write = (path: string, text: string) => {
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, text);
    };
    write(`${extmods}/pillar/source.py`, PILLAR);
    write(`${extmods}/pillar/own_pillar_part.py`, "def part(): return 'part'\n");
    write(
      `${extmods}/pillar/fails.py`,
      "def ext_pillar(minion_id, pillar, one):\n    raise ValueError('went wrong')\n",
    );
    write(
      `${extmods}/pillar/refused.py`,
      "def __virtual__(): return (False, 'needs the moon')\ndef ext_pillar(*a): pass\n",
    );
    write(
      `${extmods}/pillar/last.py`,
      "def ext_pillar(minion_id, pillar, k): return {'last': [k, pillar['own']['id']]}\n",
    );
    write(`${extmods}/modules/br.py`, "def ping(): return 'pong of ' + __grains__['id']\n");
    await fleet.stopMaster();
    await fleet.startMaster();
    const pillar = await fleet.saltRun("--out=json", "pillar.show_pillar", "web1");
    const shown = JSON.parse(pillar.out);
    assertEquals(shown.own, {
      id: "web1",
      kernel: "Linux",
      sees: [],
      args: ["a", 2],
      kwargs: {},
      role: "master",
      echo: "x",
      has: false,
      module: "pong of web1",
      part: "part",
    });
    assertEquals(shown.last, [1, "web1"]);
    assertEquals(shown._errors, ["Failed to load ext_pillar fails: went wrong"]);
    assert(pillar.err.includes("Specified ext_pillar interface refused is unavailable: needs the moon"), pillar.err);
    // The minion's own pillar, compiled in the master's process.
    await fleet.salt("web1", "saltutil.refresh_pillar", "wait=True");
    assertEquals(await fleet.saltJson("web1", "pillar.get", "own:id", "unmask=True"), map({ web1: "web1" }));
  },
);

fleetTest("a pillar file in Python is run, and sees no pillar; a source of master_tops in Python is asked", {
  minions: ["web1"],
  master: { master_tops: { own_tops: "extra" } },
}, async (fleet) => {
  const [root] = [`${fleet.root}/pillar`];
  Deno.mkdirSync(root);
  Deno.writeTextFileSync(`${root}/top.sls`, "base: {'*': [own]}\n");
  Deno.writeTextFileSync(
    `${root}/own.sls`,
    "#!py\ndef run():\n    return {'own': [__grains__['id'], __salt__['test.echo']('x'), '__pillar__' in globals()]}\n",
  );
  const tops = `${fleet.masterOpts.extension_modules}/tops`;
  Deno.mkdirSync(tops, { recursive: true });
  Deno.writeTextFileSync(
    `${tops}/own_tops.py`,
    "def top(**kwargs):\n    return {'base': [kwargs['grains']['id'] + '_' + __opts__['master_tops']['own_tops']]}\n",
  );
  await fleet.stopMaster();
  const config = `${fleet.configDir}/master`;
  const text = Deno.readTextFileSync(config).replace(
    /^\{/,
    `{"pillar_roots": {"base": ["${root}"]}, `,
  );
  Deno.writeTextFileSync(config, text);
  const shown = await fleet.saltRun("--out=json", "pillar.show_pillar", "web1");
  assertEquals(JSON.parse(shown.out), { own: ["web1", "x", false] });
  await fleet.startMaster();
  assertStringIncludes((await fleet.salt("web1", "state.show_top", "--out=json")).out, "web1_extra");
});
