/** @module */
import { lossyLink, slowLink } from "../chaos/bad_link.ts";
import { blackHole, cutLink } from "../chaos/cut_link.ts";
import { moveMaster } from "../chaos/move_master.ts";
import { chaosTest } from "./chaos.ts";

for (const fault of [cutLink, blackHole, moveMaster, lossyLink, slowLink]) chaosTest(fault);
