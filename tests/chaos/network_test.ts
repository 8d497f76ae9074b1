/** @module */
import { lossyLink, slowLink } from "./faults/bad_link.ts";
import { blackHole, cutLink } from "./faults/cut_link.ts";
import { moveMaster } from "./faults/move_master.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [cutLink, blackHole, moveMaster, lossyLink, slowLink]) chaosTest(fault);
