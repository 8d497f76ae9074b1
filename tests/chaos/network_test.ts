/** @module */
import { lossyLink, slowLink } from "./bad_link.ts";
import { blackHole, cutLink } from "./cut_link.ts";
import { moveMaster } from "./move_master.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [cutLink, blackHole, moveMaster, lossyLink, slowLink]) chaosTest(fault);
