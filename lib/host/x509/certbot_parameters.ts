/**
 * The parameters of `acme.cert`, as a function and as a state: what certbot is told of a certificate.
 * Source: Salt 3006.28 `salt/modules/acme.py`, `salt/states/acme.py`; eff-certbot.readthedocs.io.
 * @module
 */

import { p, type Parameters } from "#lib/plugins/module.ts";

/** Both have the same, in the same order. */
export const CERTBOT_PARAMETERS = {
  name: p.str(),
  aliases: p.any(null),
  email: p.str(null),
  webroot: p.any(null),
  test_cert: p.bool(false),
  renew: p.any(null),
  keysize: p.any(null),
  server: p.str(null),
  owner: p.any("root"),
  group: p.any("root"),
  mode: p.any("0640"),
  certname: p.str(null),
  preferred_challenges: p.str(null),
  tls_sni_01_port: p.any(null),
  tls_sni_01_address: p.str(null),
  http_01_port: p.any(null),
  http_01_address: p.str(null),
  dns_plugin: p.str(null),
  dns_plugin_credentials: p.str(null),
  dns_plugin_propagate_seconds: p.any(10),
} satisfies Parameters;
