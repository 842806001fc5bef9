// What a service needs to show its runs to people.
export { renderListPage, renderRunList } from './run-list.js'
export type { RunLine, RunListPage } from './run-list.js'
export { describeRun, renderRunPage } from './run-page.js'
export type { RenderedPage, RunState } from './run-page.js'
