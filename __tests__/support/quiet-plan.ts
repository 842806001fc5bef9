/** A plan that a check before the run has nothing to say about. */
export const QUIET_PLAN = `<jmeterTestPlan><hashTree><ThreadGroup testname="users">
<stringProp name="ThreadGroup.num_threads">\${__P(threads,1)}</stringProp>
<stringProp name="ThreadGroup.ramp_time">\${__P(rampup,1)}</stringProp>
<boolProp name="ThreadGroup.scheduler">true</boolProp>
<stringProp name="ThreadGroup.duration">\${__P(duration,60)}</stringProp>
</ThreadGroup><hashTree/></hashTree></jmeterTestPlan>`
