import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function hasEnded(run){return run.status==="finished"||run.status==="problem"}function isSettled(run){return hasEnded(run)&&!run.unmerged}export{hasEnded,isSettled};
