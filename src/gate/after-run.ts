/** Everything needed after the end of the run, or while it goes on, as one module to load lazily. */
export { compareWithBaseline } from './baseline/compare-with-baseline.js'
export { findBaseline, isSearched } from './baseline/find-baseline.js'
export { recordBaseline } from './baseline/record-baseline.js'
export { collect } from './collect/collect.js'
export { conclude, withoutBaselineLines } from './verdict/conclude.js'
export { closeGate } from './cleanup/main-step.js'
export { EarlyStopper } from './live/early-stop.js'
export { publish, publishWithoutRun } from './publish/publish.js'
