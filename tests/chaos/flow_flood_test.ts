/** @module */
import { flowFlood } from "#tests/chaos/faults/flow_flood.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(flowFlood);
