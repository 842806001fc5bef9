/** Everything needed after the end of the run, as one module to load lazily. */
export { compareWithBaseline } from './baseline/compare-with-baseline.js'
export { findBaseline, isSearched } from './baseline/find-baseline.js'
export { recordBaseline } from './baseline/record-baseline.js'
export { collect } from './collect/collect.js'
export { conclude, withoutBaselineLines } from './verdict/conclude.js'
export { closeGate } from './cleanup/close-gate.js'
export { publish } from './publish/publish.js'
