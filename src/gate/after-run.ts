/** The story after the run's end, as one piece to load. */
export { collect } from './collect/collect.js'
export { conclude } from './verdict/conclude.js'
export { closeGate } from './cleanup/close-gate.js'
export { publish } from './publish/publish.js'
