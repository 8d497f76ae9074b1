/**
 * State module `acme`: certificates of Let's Encrypt and of other authorities, by certbot.
 * Source: Salt 3006.28 `salt/states/acme.py`, which Salt 3008 has no longer.
 * @module
 */

import { CERTBOT_PARAMETERS } from "#lib/host/x509/certbot_parameters.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { deepDiff } from "./_deep_diff.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["acme.cert"], otherwise: "acme module could not be loaded" }],
};

export const cert: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that there is a certificate, and renew it in time.

name
    Its common name.

aliases
    More names, a list.

email
    The address that the authority writes to.

webroot
    A directory that the web server serves, or True for that of certbot's configuration. Without it certbot listens itself.

test_cert
    Whether the staging server makes it. Not with \`server\`.

renew
    Days before its end in which it is renewed; True or force: now.

keysize, server, preferred_challenges, tls_sni_01_port, tls_sni_01_address, http_01_port, http_01_address
    Options of certbot.

owner, group, mode
    Those of the file of its key.

certname
    The name under which it is kept. Default: \`name\`.

dns_plugin, dns_plugin_credentials, dns_plugin_propagate_seconds
    For challenges of DNS: cloudflare, the file with its credentials, and how long to wait.`,
  params: CERTBOT_PARAMETERS,
  async run(given, context) {
    const certname = given.certname ?? given.name;
    const isThere = truthy(await context.call("acme.has", [certname]));
    if (isThere && !truthy(await context.call("acme.needs_renewal", [certname, given.renew]))) {
      return { ...startResult(certname), comment: [`Certificate ${certname} exists and does not need renewal.`] };
    }
    if (context.test) {
      const comment = [`Certificate ${certname} would have been ${isThere ? "renew" : "obtain"}ed.`];
      const changes = map({ old: "current certificate", new: "new certificate" });
      return { ...startResult(certname, null), comment, changes };
    }
    const read = async () => mapOrEmpty(await context.call("acme.info", [certname]));
    const old = isThere ? await read() : new Map();
    const { name, ...wanted } = given;
    const done = mapOrEmpty(await context.call("acme.cert", [name], map({ ...wanted, certname })));
    const result = done.get("result") ?? null;
    const changes = result === false ? new Map() : deepDiff(old, await read());
    const comment = [str(done.get("comment") ?? "")];
    return { ...startResult(certname, typeof result === "boolean" ? result : null), comment, changes };
  },
});
