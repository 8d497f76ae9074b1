/** @module */
import { killCluster } from "#tests/chaos/faults/kill_cluster.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(killCluster);
