/**
 * External pillar `gpg`: the pillar so far, decrypted. To be the last of the list.
 * Source: Salt 3008.3 `salt/pillar/gpg.py`.
 * @module
 */

import { type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Decrypt the values of the pillar that are encrypted with PGP, with the gpg program and the keys of `gpg_keydir`.",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_bound, { pillar, decrypt }) => decrypt(pillar, "gpg"),
});
