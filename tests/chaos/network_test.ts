/** @module */
import { lossyLink, slowLink } from "#tests/chaos/faults/bad_link.ts";
import { blackHole, cutLink } from "#tests/chaos/faults/cut_link.ts";
import { moveMaster } from "#tests/chaos/faults/move_master.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [cutLink, blackHole, moveMaster, lossyLink, slowLink]) chaosTest(fault);
