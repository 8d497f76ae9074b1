/** A host whose grains keep a pillar template busy: that is ended, and others are served. */

import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { sshTest } from "#tests/support/fleet/ssh_daemon.ts";

/** A pillar that computes for minutes on hosts with the grain, until the limit of a template's steps. */
const ENDLESS = `
{%- if grains.get('endless') %}{% for a in range(90000) %}{% for b in range(90000) %}{% set x = 'xy' * 50000 %}{% endfor %}{% endfor %}{% endif %}
door: red
`;

sshTest("a pillar without an end is ended, and the other hosts are served", {}, async (host) => {
  host.roster({ web1: { grains: { endless: true } }, web2: {}, web3: {} });
  host.write("pillar/top.sls", "base: {'*': [site]}\n");
  host.write("pillar/site.sls", ENDLESS);
  const master = `${host.root}/conf/master`;
  const options = JSON.parse(Deno.readTextFileSync(master));
  Deno.writeTextFileSync(master, JSON.stringify({ ...options, pillar_timeout: 2 }));
  const { out, code } = await host.ssh("*", "pillar.items", "--static", "--out=json");
  const { web1, web2, web3 } = JSON.parse(out);
  assertEquals([web2, web3, code], [{ door: "red" }, { door: "red" }, 0]);
  assertMatch(JSON.stringify(web1), /_errors.*web1 cannot be compiled: it takes more than 2 seconds/);
});
