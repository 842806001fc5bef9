/** Everything needed after the end of the run, as one module to load lazily. */
export { collect } from './collect/collect.js'
export { confirmRuns } from './confirm-runs.js'
export { followSideBySide } from './side-by-side/follow-side-by-side.js'
export { conclude } from './verdict/conclude.js'
export { closeGate } from './cleanup/close-gate.js'
export { publish } from './publish/publish.js'
