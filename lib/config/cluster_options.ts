/**
 * The options of a cluster of masters. Those of Salt's own clusters, whose masters talk to each other, are accepted and
 * mean nothing here: these masters meet in the database (docs/cluster.md).
 * @module
 */

import { anyOption, floatOption, notNeeded, pathOption, strOption } from "./option_types.ts";

const UNNEEDED_DOC = "Accepted for compatibility with Salt: masters of a cluster meet in the database.";
const unneeded = notNeeded(anyOption(null, UNNEEDED_DOC));

/** Those of Salt that have no meaning here. */
const UNNEEDED = {
  cluster_auto_replace_voters: unneeded,
  cluster_demote_cooldown: unneeded,
  cluster_encryption_algorithm: unneeded,
  cluster_isolated_filesystem: unneeded,
  cluster_key_pass: unneeded,
  cluster_max_log_size: unneeded,
  cluster_max_voters: unneeded,
  cluster_min_voters: unneeded,
  cluster_mode: unneeded,
  cluster_peers: unneeded,
  cluster_pki_dir: unneeded,
  cluster_pool_port: unneeded,
  cluster_pub_fingerprint: unneeded,
  cluster_voter_health_check_interval: unneeded,
  cluster_voter_timeout: unneeded,
};

/** The names of options of clusters that have no meaning here, for one warning about all that are set. */
export const UNNEEDED_CLUSTER_OPTIONS: readonly string[] = Object.keys(UNNEEDED);

/** Those that a master reads, then Salt's that it does not need. */
export const CLUSTER_OPTIONS = {
  cluster_id: strOption(
    null,
    "Name of the cluster of masters that this one belongs to; it needs `postgresql` and `cluster_secret`: docs/cluster.md.",
  ),
  cluster_secret: strOption(null, "The secret that the masters of a cluster share; the same on each."),
  cluster_secret_file: pathOption(null, "A file with `cluster_secret`. Not in Salt."),
  cluster_lease: floatOption(
    10,
    "Seconds after which a master of the cluster that says nothing counts as gone. Not in Salt.",
    { min: 1 },
  ),
  ...UNNEEDED,
};
